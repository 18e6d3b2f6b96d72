import type { CompiledQuery } from 'kysely';

/** The rows of each statement, in the order of the statements. */
export type RowsOf<Statements extends readonly CompiledQuery<unknown>[]> = {
  readonly [Index in keyof Statements]: Statements[Index] extends CompiledQuery<infer Row> ? readonly Row[] : never;
};

/** What kind of transaction it is; without any of them, read committed. */
export interface TransactionOptions {
  /** Repeatable read and read only: all statements see the same moment. */
  readonly snapshot?: boolean;
  /** A commit: no sequential scans, 30 s per statement, 5 s waiting for a lock. */
  readonly write?: boolean;
  /** On whose behalf a commit is, in a few words; shown to others who wait for the account. */
  readonly by?: string;
}

/** How long the owner waits; without it, for as long as it takes. */
export interface OwnerOptions {
  /**
   * A write while servers are at work: 5 s for a lock, 30 s for a statement, and a connection is given up when nothing
   * comes, as in any write. `long` allows a statement twenty times as much, since whole logs that go take their time.
   */
  readonly write?: 'short' | 'long';
}

/** Runs one statement inside the transaction that it was given for; its text decides what the rows hold. */
export type Run = <Row extends object = Readonly<Record<string, unknown>>>(
  sql: string,
  parameters?: readonly unknown[],
) => Promise<readonly Row[]>;

/** How the connections of a pool are used, and how many transactions wait for one. */
export interface PoolUse {
  readonly busy: number;
  readonly idle: number;
  readonly most: number;
  readonly waiting: number;
}

/** What runs the statements of an account: the database, or the transaction that holds the account. */
export type AccountAccess = Pick<Database, 'inAccount' | 'wrote'>;

/** A Postgres, own server or embedded: the same types, errors (SQLSTATE in `code`, or `Unavailable`) and isolation. */
export interface Database {
  readonly engine: 'postgres' | 'embedded';
  /** One transaction as role heddle_app restricted to one account, sent in one flush; returns the rows of each statement. */
  inAccount<const Statements extends readonly CompiledQuery<unknown>[]>(
    account: string,
    statements: Statements,
    options?: TransactionOptions,
  ): Promise<RowsOf<Statements>>;
  /**
   * One transaction that first locks the account's head row: no other writer comes between what `work` reads and what it
   * writes. `work` uses nothing but what it is given, because any other statement may wait for this very transaction.
   */
  holding<Value>(account: string, work: (held: AccountAccess) => Promise<Value>, by?: string): Promise<Value>;
  /** One statement outside row-level security: look-ups in `directory`, and the server's own lists. */
  lookUp<Row>(statement: CompiledQuery<Row>): Promise<readonly Row[]>;
  /** Runs SQL as the owner, in one transaction: migrations, maintenance, and writes of several accounts. */
  asOwner(work: readonly string[] | ((run: Run) => Promise<void>), options?: OwnerOptions): Promise<void>;
  /** Counts written rows: the embedded engine vacuums and analyses every 10,000, Postgres does so by itself. */
  wrote(rows: number): void;
  /** How its connections are used; absent: it has no pool of them. */
  pool?(): PoolUse;
  /** Resolves when the database answers and its disk is not known to be full. Throws `Unavailable` otherwise. */
  ping(): Promise<void>;
  /** Waits for what is running and closes; calling it again is nothing. */
  close(): Promise<void>;
}

/** Where the database is: a URL, a data directory, or neither for one in memory. */
export interface DatabaseOptions {
  /** `postgres://…`; TLS as in libpq's `sslmode`, `sslrootcert`, … */
  readonly url?: string;
  readonly dataDir?: string;
  /** Called before a new embedded database is created. */
  readonly creating?: () => void;
  /** Called when the disk of the database is full, and when it has room again: once for each change. */
  readonly diskChanged?: (isFull: boolean) => void;
  readonly poolSize?: number;
  /** Switch off behind a PgBouncer that does not track prepared statements. */
  readonly preparedStatements?: boolean;
  /** After so many milliseconds without a byte a connection is given up; by default 15 s in a write and 30 s in a read. */
  readonly silenceMs?: number;
}

/** Opens the database, the embedded one when no URL is given; it does not migrate it. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { url } = options;
  // Imported on demand: the embedded engine is a large module that a server on Postgres never needs.
  if (url === undefined) return (await import('./embedded/embedded.ts')).openEmbedded(options);
  return (await import('./postgres.ts')).openPostgres({ ...options, url });
}
