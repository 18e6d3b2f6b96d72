import { setTimeout as delay } from 'node:timers/promises';
import { codeOf } from '../lib/error-code.ts';
import { Conflict } from '../model/errors.ts';
import { statement } from './builder.ts';
import type { Database, RunSql } from './database.ts';
import { describeHolders } from './lock-holder.ts';
import { migrations as known, type Migration } from './migrations/index.ts';
import { SchemaTooNew } from './schema-too-new.ts';
import { refusalOf, UnusableDatabase } from './unusable-database.ts';

// Two keys that only Heddle uses, so that another program in the same database does not take the same lock by chance.
const LOCK = 'select pg_advisory_xact_lock(1212498020, 1)';

const LEDGER = `create table if not exists heddle_schema (
  migration text primary key,
  oldest_program int not null,
  applied_at timestamptz not null
)`;

/** Options for migrating a database while servers may use it. */
export interface MigrateOptions {
  readonly migrations?: readonly Migration[];
  /** Called with a sentence after each attempt that failed to get its locks. */
  onWaiting?(message: string): void;
  /** Time that an attempt waits for a lock, in seconds. Later requests for the table wait behind it. */
  readonly lockSeconds?: number;
  /** Pause between two attempts, in seconds. Requests that waited behind an attempt continue in this time. */
  readonly pauseSeconds?: number;
  /** Number of attempts, after which `migrate` throws `Conflict`. */
  readonly attempts?: number;
  /** Oldest major version of Postgres that supports the schema. */
  readonly minPostgresVersion?: number;
}

/**
 * Migrates the database to this program's schema, and returns the names of the applied migrations. Any number of
 * processes may call it at the same time.
 */
export async function migrate(database: Database, options: MigrateOptions = {}): Promise<readonly string[]> {
  const { onWaiting = () => {}, pauseSeconds = 3, attempts = 50 } = options;
  for (let attempt = 1; ; attempt++) {
    try {
      return await migrateOnce(database, options);
    } catch (error) {
      if (!isLocked(error)) throw error;
      const message = `migrating the database waits for ${await describeHolders(database)}; nothing was changed`;
      if (attempt >= attempts)
        throw new Conflict('locked', `${message}: end those sessions and start again`, { cause: error });
      onWaiting(`${message} yet; the next attempt is in ${pauseSeconds} s`);
    }
    await delay(pauseSeconds * 1000);
  }
}

/** Checks whether a database has been migrated, by any version of the program. Changes nothing. */
export async function holdsMigrations(database: Database): Promise<boolean> {
  const [found] = await database.lookUp(statement<{ readonly exists: boolean }>(ledgerExists, []));
  return found?.exists === true;
}

const ledgerExists = `select to_regclass('heddle_schema') is not null as "exists"`;

async function migrateOnce(database: Database, options: MigrateOptions): Promise<readonly string[]> {
  const { migrations = known, lockSeconds = 3, minPostgresVersion = 15 } = options;
  // Before the migrations are read, the ledger is missing or of another program.
  let missing = migrations;
  await database
    .asOwner(async (run) => {
      await requirePostgresVersion(run, minPostgresVersion);
      // Waits without a limit, because another server is migrating.
      await run(LOCK);
      missing = await readMissing(run, migrations);
      if (missing.length === 0) return;
      if (missing.length === migrations.length) await requireNoForeignTables(run);
      await run("select set_config('lock_timeout', $1, true)", [`${lockSeconds * 1000}ms`]);
      await lockAccounts(run, missing);
      for (const migration of missing) await apply(run, migration);
    })
    .catch((error) => {
      throw toMigrationError(error, missing.length === migrations.length, database.engine);
    });
  return missing.map((migration) => migration.name);
}

/**
 * Throws `UnusableDatabase` for a Postgres that is too old. It would otherwise fail in the middle of a migration, with
 * an unclear error.
 */
async function requirePostgresVersion(run: RunSql, oldest: number): Promise<void> {
  const [row] = await run(`select current_setting('server_version_num')::int / 10000 as "major"`);
  const major = Number(row?.['major']);
  if (major >= oldest) return;
  throw new UnusableDatabase(
    `The database server is Postgres ${major}, and Heddle needs ${oldest} or newer; nothing was changed. Upgrade the server, or name another one with --database-url.`,
  );
}

/**
 * Throws `UnusableDatabase` when the schema in which Heddle creates its tables has a table `accounts` already, although
 * no migration was applied. Nothing has touched the table of the other program then.
 */
async function requireNoForeignTables(run: RunSql): Promise<void> {
  const [found] = await run(`select to_regclass(quote_ident(current_schema()) || '.accounts') is not null as "exists"`);
  if (found?.['exists'] === true) throw foreignTablesError('relation "accounts" already exists');
}

// SQLSTATEs of tables, functions and other objects that exist already, that are missing, and that are of another kind or
// type; of columns that exist already, and that are missing; and of a search path in which no schema exists that the
// role may use.
const existsAlready = /^42(P07|710|723)$/;
const isMissing = /^42(P01|703|704|883)$/;
const isDifferent = /^42(P16|804|809)$/;
const duplicateColumn = '42701';
const undefinedColumn = '42703';
const noSchema = '3F000';

/** Returns the error of a failed migration, with the state of the database and what to do. */
function toMigrationError(error: unknown, isNew: boolean, engine: Database['engine']): unknown {
  const refusal = engine === 'postgres' ? refusalOf(error) : undefined;
  if (refusal === undefined) return schemaError(error, isNew) ?? error;
  return new UnusableDatabase(`The database cannot be migrated, and nothing was changed. ${refusal.message}`, {
    cause: error,
  });
}

/**
 * Returns the error of a database whose schema is not the one that the migrations expect; `undefined` for other errors.
 * In a database without applied migrations, only tables of another program, or of Heddle without their list of
 * migrations, can be in the way: what is missing there is a defect of the migrations.
 */
function schemaError(error: unknown, isNew: boolean): UnusableDatabase | undefined {
  const code = codeOf(error) ?? '';
  const reason = error instanceof Error ? error.message : String(error);
  if (code === noSchema) return noSchemaError(reason, error);
  const isInTheWay = existsAlready.test(code);
  const isAltered = isDifferent.test(code) || code === duplicateColumn;
  if (isNew) return isInTheWay || isAltered || code === undefinedColumn ? foreignTablesError(reason, error) : undefined;
  if (isInTheWay) return occupiedNameError(reason, error);
  return isAltered || isMissing.test(code) ? alteredTablesError(reason, error) : undefined;
}

function noSchemaError(reason: string, cause: unknown): UnusableDatabase {
  return new UnusableDatabase(
    `Heddle's tables cannot be created in the database: ${reason}. Nothing was changed. The search_path of the role of HEDDLE_DATABASE_URL ` +
      'contains no schema that exists and that the role may use: run `create schema if not exists public` and `grant usage, create on schema public to ROLE`, ' +
      'or correct the search_path (`alter role ROLE reset search_path`).',
    { cause },
  );
}

/**
 * The tables may be Heddle's own, with data: they were restored without `heddle_schema`, or it is empty. So the message
 * begins with that: an empty database beside them would look like lost data.
 */
function foreignTablesError(reason: string, cause?: unknown): UnusableDatabase {
  return new UnusableDatabase(
    `Heddle's tables cannot be created in the database: ${reason}. Nothing was changed. If these are Heddle's own tables, heddle_schema was not restored with them: ` +
      'restore both from the same backup. If they are tables of another program, give Heddle a database of its own (`create database heddle owner ROLE`) and name it in HEDDLE_DATABASE_URL.',
    { cause },
  );
}

/**
 * The object may be Heddle's own, with data: the table `heddle_schema` was restored without the others, from an older
 * backup. So the message does not advise to drop it.
 */
function occupiedNameError(reason: string, cause: unknown): UnusableDatabase {
  return new UnusableDatabase(
    `The database cannot be migrated: ${reason}. Nothing was changed. The tables may be newer than the list of migrations in heddle_schema: ` +
      'restore both from the same backup. If another program or person created what has that name, rename it, and start again.',
    { cause },
  );
}

function alteredTablesError(reason: string, cause: unknown): UnusableDatabase {
  return new UnusableDatabase(
    `The database cannot be migrated: ${reason}. Nothing was changed. The tables differ from those that Heddle's migrations created; ` +
      'undo what was changed by hand, or restore a backup of the database.',
    { cause },
  );
}

/** Returns whether another session held a table for too long, or two sessions were in a deadlock. */
function isLocked(error: unknown): boolean {
  if (error instanceof Conflict) return error.reason === 'locked';
  return error instanceof Error && 'code' in error && error.code === '40P01';
}

/**
 * Blocks writers. Every writer first locks the head row of its account, so no writer holds a table that is changed here
 * while it waits for another table. Readers continue, unless `accounts` itself is changed.
 */
async function lockAccounts(run: RunSql, missing: readonly Migration[]): Promise<void> {
  const [accounts] = await run(`select to_regclass('accounts') is not null as "exists"`);
  if (accounts?.['exists'] !== true) return;
  const changes = missing.some(({ statements }) => statements.some((text) => /\balter table accounts\b/i.test(text)));
  await run(`lock table accounts in ${changes ? 'access exclusive' : 'share row exclusive'} mode`);
}

async function readMissing(run: RunSql, migrations: readonly Migration[]): Promise<readonly Migration[]> {
  // Checked first, because `if not exists` alone would send a notice at every start.
  const [ledger] = await run(ledgerExists);
  if (ledger?.['exists'] !== true) await run(LEDGER);
  const applied = await run('select migration, oldest_program from heddle_schema order by migration');
  const names = new Set(migrations.map((migration) => migration.name));
  const tooNew = applied.find(
    (row) => !names.has(String(row['migration'])) && Number(row['oldest_program']) > migrations.length,
  );
  if (tooNew) throw new SchemaTooNew(tooNewMessage(tooNew, migrations));
  const done = new Set(applied.map((row) => row['migration']));
  return migrations.filter((migration) => !done.has(migration.name));
}

async function apply(run: RunSql, migration: Migration): Promise<void> {
  for (const statement of migration.statements) await run(statement);
  await run('insert into heddle_schema (migration, oldest_program, applied_at) values ($1, $2, now())', [
    migration.name,
    migration.oldestProgram,
  ]);
}

function tooNewMessage(row: Readonly<Record<string, unknown>>, migrations: readonly Migration[]): string {
  return (
    `This database was migrated by a newer Heddle: its migration ${row['migration']} requires a program with schema ` +
    `${row['oldest_program']} or newer, and this program has schema ${migrations.length} (${migrations.at(-1)?.name}). ` +
    'Start the newer Heddle, or restore the backup made before the upgrade.'
  );
}
