import type { CompiledQuery } from 'kysely';

/** The rows of each statement, in the order of the statements. */
export type RowsOf<Statements extends readonly CompiledQuery<unknown>[]> = {
  readonly [Index in keyof Statements]: Statements[Index] extends CompiledQuery<infer Row> ? readonly Row[] : never;
};

/** Options of a transaction. Without options: read committed. */
export interface TransactionOptions {
  /** Repeatable read and read only: all statements see the same snapshot. */
  readonly snapshot?: boolean;
  /** A commit: no sequential scans, 30 s per statement, 5 s waiting for a lock. */
  readonly write?: boolean;
  /** Name of the writer, in a few words. It is shown to others who wait for the account. */
  readonly by?: string;
}

/** Limits of a transaction of the database owner. Absent: no limits. */
export interface OwnerOptions {
  /**
   * A write while servers are running: it waits at most 5 s for a lock and 30 s for a statement, and its connection is
   * closed when it stays silent, as in any write. `long` allows a statement 20 times as long, because deleting whole
   * logs takes time.
   */
  readonly write?: 'short' | 'long';
}

/** Runs a statement inside the transaction for which it was created. The SQL text determines the type of the rows. */
export type RunSql = <Row extends object = Readonly<Record<string, unknown>>>(
  sql: string,
  parameters?: readonly unknown[],
) => Promise<readonly Row[]>;

/**
 * Numbers of busy and idle connections of a pool, its maximum size, and the number of transactions that wait for a
 * connection.
 */
export interface PoolUse {
  readonly busy: number;
  readonly idle: number;
  readonly max: number;
  readonly waiting: number;
}

/** Runs the statements of an account: the database, or a transaction that holds the lock of the account. */
export type AccountAccess = Pick<Database, 'inAccount' | 'countWrittenRows'>;

/**
 * A Postgres database, on a separate server or embedded. Both have the same types, errors (SQLSTATE in `code`, or
 * `Unavailable`) and isolation.
 */
export interface Database {
  readonly engine: 'postgres' | 'embedded';
  /**
   * Runs the statements in one transaction as the role `heddle_app`, restricted to one account. Sends them in one
   * flush. Returns the rows of each statement.
   */
  inAccount<const Statements extends readonly CompiledQuery<unknown>[]>(
    account: string,
    statements: Statements,
    options?: TransactionOptions,
  ): Promise<RowsOf<Statements>>;
  /**
   * Runs `work` in one transaction that first locks the account's head row, so that no other writer commits between
   * what `work` reads and what it writes. `work` must use only `held`, because any other statement may wait for this
   * transaction.
   */
  withAccountLock<Value>(account: string, work: (held: AccountAccess) => Promise<Value>, by?: string): Promise<Value>;
  /** Runs one statement outside row-level security: look-ups in `directory`, and the server's own lists. */
  lookUp<Row>(statement: CompiledQuery<Row>): Promise<readonly Row[]>;
  /**
   * Runs SQL as the database owner, in one transaction: migrations, maintenance, and writes of several accounts. Runs
   * `work` once more when Postgres ended the transaction before its commit because the process stood still, so `work`
   * must reset what it collects outside of itself.
   */
  asOwner(work: readonly string[] | ((run: RunSql) => Promise<void>), options?: OwnerOptions): Promise<void>;
  /**
   * Counts written rows. The embedded engine vacuums and analyses after every 10,000 rows; Postgres does so
   * automatically.
   */
  countWrittenRows(rows: number): void;
  /** Returns the use of the connection pool. Absent: the database has no pool. */
  pool?(): PoolUse;
  /** Resolves when the database answers and its disk is not known to be full. Throws `Unavailable` otherwise. */
  ping(): Promise<void>;
  /** Waits for running work and closes the database. Further calls do nothing. */
  close(): Promise<void>;
}

/** Location of the database: a URL, a data directory, or neither for a database in memory. */
export interface DatabaseOptions {
  /** `postgres://…`, with the TLS parameters of libpq: `sslmode`, `sslrootcert`, … */
  readonly url?: string;
  readonly dataDir?: string;
  /** Called before a new embedded database is created. */
  readonly onCreate?: () => void;
  /** Called once for each change: when the disk of the database becomes full, and when it has room again. */
  readonly onDiskChange?: (isFull: boolean) => void;
  readonly poolSize?: number;
  /** Whether to use prepared statements. Set it to false behind a PgBouncer that does not track prepared statements. */
  readonly preparedStatements?: boolean;
  /**
   * Milliseconds without a received byte after which a connection is closed. Default: 15 s in a write, 30 s in a read.
   */
  readonly silenceMs?: number;
}

/** Opens the database, or the embedded one when no URL is given. Does not run migrations. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { url } = options;
  // Imported on demand, because the embedded engine is a large module that a server on Postgres never needs.
  if (url === undefined) return (await import('./embedded/embedded.ts')).openEmbedded(options);
  return (await import('./postgres.ts')).openPostgres({ ...options, url });
}
