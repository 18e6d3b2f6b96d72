import { resolve } from 'node:path';
import { PGlite, type PGliteOptions, type Transaction } from '@electric-sql/pglite';
import type { CompiledQuery } from 'kysely';
import { readEmbeddedAsset } from '../../executable.ts';
import { isObject } from '../../lib/json.ts';
import { Unavailable } from '../../model/errors.ts';
import { beginText, checkParameters, lockHead, restrictTo, runOwnerWork } from '../builder.ts';
import type { AccountAccess, Database, RowsOf, RunSql, TransactionOptions } from '../database.ts';
import { columnParsers } from '../schema.ts';
import { shortageOf } from '../shortage.ts';
import { damagedDatabaseError, databaseFolder, openDataDirectory } from './data-directory.ts';
import { lockDirectory } from './directory-lock.ts';
import { freeMebibytes, inDataDirectory, isDiskFullError } from './disk.ts';
import { DiskWatch } from './disk-watch.ts';

/** Number of written rows after which the tables are vacuumed and analysed. PGlite has no autovacuum. */
const VACUUM_ROWS = 10_000;

/**
 * Number of transactions after which the size of the write-ahead log is checked. A check costs as much as a small read.
 */
const CHECK_TRANSACTIONS = 64;

/**
 * Maximum number of bytes of the write-ahead log since the last checkpoint. PGlite has no process that makes
 * checkpoints. Without them the log would grow until the server stops, and a server that was killed would read all of
 * it at its next start.
 */
const CHECKPOINT_BYTES = 32 * 2 ** 20;

const walBytesText =
  'select pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::float8 as bytes from pg_control_checkpoint()';

/**
 * Selects tables that have grown much since their statistics were made, because the earlier process ended before its
 * next vacuum. For other tables, a vacuum is not worth its second of CPU at every start. A table of 128 KiB is read as
 * a whole anyway.
 */
const grownTables = `select from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
  and pg_relation_size(oid) > 8192 * greatest(1.25 * relpages, 16)`;

/** Location of the embedded database: a data directory, or memory if it is absent. */
export interface EmbeddedOptions {
  readonly dataDir?: string;
  /** Called before a new database is created in the data directory. */
  readonly onCreate?: () => void;
  /** Called when the disk of the database becomes full, and when it has room again. */
  readonly onDiskChange?: (isFull: boolean) => void;
  /** For tests: replaces the function that returns the free space below a path, in MiB. */
  readonly freeMebibytes?: typeof freeMebibytes;
}

/**
 * Opens the embedded Postgres. Creates a missing data directory, which is locked for this process until the database is
 * closed. Throws `Unavailable` when another process has locked the directory, or when files of its database are missing
 * or damaged.
 */
export async function openEmbedded(options: EmbeddedOptions = {}): Promise<Database> {
  if (options.dataDir === undefined) return new EmbeddedDatabase(await start(), async () => {});
  const directory = resolve(options.dataDir);
  return inDataDirectory(directory, async () => {
    await openDataDirectory(directory);
    const unlock = await lockDirectory(directory);
    try {
      const database = new EmbeddedDatabase(await startIn(directory, options), unlock, options.onDiskChange);
      await database.vacuumGrown();
      return database;
    } catch (error) {
      await unlock();
      throw error;
    }
  });
}

/** Space that a new database takes, and space that an existing database may need at its start, in MiB. */
const newDatabaseMebibytes = 48;
const startMebibytes = 32;

async function startIn(directory: string, { onCreate = () => {}, ...options }: EmbeddedOptions): Promise<PGlite> {
  const roomLeft = () => (options.freeMebibytes ?? freeMebibytes)(directory);
  const folder = await databaseFolder(directory, async (fresh) => {
    const room = await roomLeft();
    if (room < newDatabaseMebibytes) throw new Unavailable(noSpaceToCreateMessage(directory, room));
    onCreate();
    await (await start(fresh)).close();
  });
  try {
    return await start(folder);
  } catch (cause) {
    if (isDiskFullError(cause)) throw cause;
    const room = await roomLeft();
    if (room < startMebibytes) throw new Unavailable(noSpaceToStartMessage(directory, room), { cause });
    throw damagedDatabaseError(directory, 'the database does not start from its files', cause);
  }
}

function noSpaceToCreateMessage(directory: string, room: number): string {
  return `No database was created in ${directory}: its disk has room for ${room} MiB, and a new database takes ${newDatabaseMebibytes} MiB. Make room, or choose another directory with --data-dir.`;
}

/**
 * Returns the message for a database that does not start on a full disk. It does not suggest a restore, because a
 * database that only lacks space must not be restored.
 */
function noSpaceToStartMessage(directory: string, room: number): string {
  return `The embedded database in ${directory} does not start, and its disk is full (${room} MiB left). Nothing was changed. Free disk space and start again; if it still does not start, it is damaged.`;
}

async function start(dataDir = 'memory://'): Promise<PGlite> {
  const starting = PGlite.create({ dataDir, parsers: { ...columnParsers }, ...(await loadBundledFiles()) });
  return starting.catch((reason) => Promise.reject(startError(reason)));
}

// Node provides it, but its types do not declare it.
declare const WebAssembly: { compile(bytes: Uint8Array<ArrayBuffer>): Promise<CompiledModule> };
type CompiledModule = NonNullable<PGliteOptions['pgliteWasmModule']>;

/**
 * Returns the files that PGlite normally reads from the folder of its modules, if they are contained in the single
 * executable.
 */
async function loadBundledFiles(): Promise<Partial<PGliteOptions>> {
  const [postgres, initdb, files] = ['pglite.wasm', 'initdb.wasm', 'pglite.data'].map(readEmbeddedAsset);
  if (postgres === undefined || initdb === undefined || files === undefined) return {};
  const [pgliteWasmModule, initdbWasmModule] = await Promise.all([
    WebAssembly.compile(postgres),
    WebAssembly.compile(initdb),
  ]);
  return { pgliteWasmModule, initdbWasmModule, fsBundle: new Blob([files]) };
}

// WebAssembly's errno values for ENOSPC and EDQUOT.
const fullErrnos: readonly unknown[] = [51, 19];

/** Converts a fault of PGlite's file system, which is not an instance of `Error`, to an `Error`. */
function startError(reason: unknown): unknown {
  if (reason instanceof Error) return reason;
  const errno = isObject(reason) ? reason['errno'] : undefined;
  const error = new Error(`the embedded database failed with errno ${String(errno)}`);
  return fullErrnos.includes(errno) ? Object.assign(error, { code: 'ENOSPC' }) : error;
}

class EmbeddedDatabase implements Database {
  readonly engine = 'embedded';
  readonly #pglite: PGlite;
  readonly #unlock: () => Promise<void>;
  readonly #disk: DiskWatch;
  #unvacuumed = 0;
  #transactions = 0;
  /** Vacuums and checkpoints, which run one after the other. */
  #upkeep: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | undefined;

  constructor(pglite: PGlite, unlock: () => Promise<void>, diskChanged?: (isFull: boolean) => void) {
    this.#pglite = pglite;
    this.#unlock = unlock;
    this.#disk = new DiskWatch((statements) => this.asOwner(statements), diskChanged);
  }

  inAccount<const Statements extends readonly CompiledQuery<unknown>[]>(
    account: string,
    statements: Statements,
    options: TransactionOptions = {},
  ): Promise<RowsOf<Statements>> {
    return this.#transaction(async (transaction) => {
      for (const statement of statements) checkParameters(statement);
      // PGlite has begun the transaction already. Its mode can still be set before the first query.
      await transaction.exec(beginText(options).replace(/^begin/, 'set transaction'));
      await query(transaction, restrictTo(account, options));
      return queryAll(transaction, statements);
    });
  }

  withAccountLock<Value>(account: string, work: (held: AccountAccess) => Promise<Value>): Promise<Value> {
    return this.#transaction(async (transaction) => {
      await query(transaction, restrictTo(account, { write: true }));
      await query(transaction, lockHead(account));
      return work({
        inAccount(_, statements) {
          for (const statement of statements) checkParameters(statement);
          return queryAll(transaction, statements);
        },
        countWrittenRows: (rows) => this.countWrittenRows(rows),
      });
    });
  }

  async lookUp<Row>(statement: CompiledQuery<Row>): Promise<readonly Row[]> {
    checkParameters(statement);
    return this.#transaction((transaction) => query(transaction, statement));
  }

  async asOwner(work: Parameters<Database['asOwner']>[0]): Promise<void> {
    await this.#transaction((transaction) => {
      const run: RunSql = async <Row>(text: string, parameters: readonly unknown[] = []) =>
        (await transaction.query<Row>(text, [...parameters])).rows;
      return runOwnerWork(work, run);
    });
  }

  countWrittenRows(rows: number): void {
    this.#unvacuumed += rows;
    if (this.#unvacuumed >= VACUUM_ROWS) this.vacuum();
  }

  /** Vacuums in the background if tables have grown much since their statistics were made. */
  async vacuumGrown(): Promise<void> {
    if ((await this.#pglite.query(grownTables)).rows.length > 0) this.vacuum();
  }

  /** Vacuums in the background, between transactions; a failure is thrown by the next `ping` or by `close`. */
  vacuum(): void {
    this.#unvacuumed = 0;
    this.#inBackground(() => this.#pglite.exec('vacuum (analyze)'));
  }

  /** Runs `work` after earlier upkeep. If it fails, as on a full disk, the next upkeep makes up for it. */
  #inBackground(work: () => Promise<unknown>): void {
    this.#upkeep = this.#upkeep.then(work, work);
    this.#upkeep.catch(() => {});
  }

  async #checkpoint(): Promise<void> {
    const [ahead] = (await this.#pglite.query<{ readonly bytes: number }>(walBytesText)).rows;
    if (ahead === undefined || ahead.bytes <= CHECKPOINT_BYTES) return;
    await this.#pglite.exec('checkpoint').catch((error) => {
      const shortage = shortageOf(error);
      if (shortage === undefined) throw error;
      // Reported like the shortage of a write. The next check tries again.
      this.#disk.recordShortage(shortage);
    });
  }

  async ping(): Promise<void> {
    await this.#upkeep;
    await this.#transaction((transaction) => transaction.exec('select 1'));
    this.#disk.requireSpace();
  }

  close(): Promise<void> {
    this.#disk.stop();
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    try {
      await this.#upkeep;
    } finally {
      await this.#pglite.close();
      await this.#unlock();
    }
  }

  async #transaction<Value>(work: (transaction: Transaction) => Promise<Value>): Promise<Value> {
    if (this.#closed) throw new Unavailable('The embedded database is closed.');
    this.#transactions += 1;
    if (this.#transactions % CHECK_TRANSACTIONS === 0) this.#inBackground(() => this.#checkpoint());
    return this.#pglite.transaction(work).catch((error) => {
      const shortage = shortageOf(error);
      throw shortage === undefined ? error : this.#disk.recordShortage(shortage);
    });
  }
}

async function queryAll<const All extends readonly CompiledQuery<unknown>[]>(
  transaction: Transaction,
  statements: All,
): Promise<RowsOf<All>> {
  const answers: (readonly unknown[])[] = [];
  for (const statement of statements) answers.push(await query(transaction, statement));
  // The rows match the statements by position, and the builder typed the rows of each statement.
  return answers as RowsOf<All>;
}

async function query<Row>(transaction: Transaction, statement: CompiledQuery<Row>): Promise<readonly Row[]> {
  return (await transaction.query<Row>(statement.sql, [...statement.parameters])).rows;
}
