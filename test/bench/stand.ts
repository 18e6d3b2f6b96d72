import { randomBytes } from 'node:crypto';
import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine } from '../../src/app.ts';
import type { Engine } from '../../src/commit/engine.ts';
import { type Database, type DatabaseOptions, openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { type PostgresServer, startPostgres } from '../setup/server.ts';
import { onServer } from '../setup/sql.ts';

/** Resources that benchmarks share: a Postgres with `fsync`, as in production, and space for files. */
export interface Stand extends AsyncDisposable {
  /** Creates a separate, migrated database. Returns its URL. */
  postgres(): Promise<string>;
  /** Creates a separate, migrated embedded database. Returns its data directory. */
  embedded(): Promise<string>;
  directory(): Promise<string>;
}

/** Starts the Postgres and creates a template database for each of the two engines. */
export async function openStand(): Promise<Stand> {
  const root = await mkdtemp(join(tmpdir(), 'heddle-bench-'));
  const server = await startPostgres({ fsync: true, tcp: true });
  await onServer(server.url(), 'create database template');
  await migrated({ url: server.url('template') });
  await migrated({ dataDir: join(root, 'template') });
  const directory = () => mkdtemp(join(root, 'd-'));
  return {
    postgres: () => clone(server),
    async embedded() {
      const copy = await directory();
      cpSync(join(root, 'template', 'postgres'), join(copy, 'postgres'), { recursive: true });
      return copy;
    },
    directory,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(root, { recursive: true });
    },
  };
}

async function clone(server: PostgresServer): Promise<string> {
  const name = `b_${randomBytes(6).toString('hex')}`;
  await onServer(server.url(), `create database ${name} template template`);
  return server.url(name);
}

async function migrated(options: DatabaseOptions): Promise<void> {
  const database = await openDatabase(options);
  await migrate(database);
  await database.close();
}

/** An engine with an empty account. */
export interface Workplace extends AsyncDisposable {
  readonly engine: Engine;
  readonly account: string;
}

/** Opens an engine on a migrated database, with one connection by default, and creates an account. */
export async function openWorkplace(
  where: DatabaseOptions,
  wrap: (database: Database) => Database = (database) => database,
): Promise<Workplace> {
  const database = wrap(await openDatabase({ poolSize: 1, ...where }));
  const engine = createEngine({ database });
  const account = await addAccount(database, engine.newId());
  return {
    engine,
    account,
    async [Symbol.asyncDispose]() {
      await engine.committer.settle();
      await database.close();
    },
  };
}

/** Writes the head row of an account. Returns the account's id. */
export async function addAccount(database: Database, account: string): Promise<string> {
  await database.asOwner(async (run) => {
    await run('insert into accounts (account_id, created_at) values ($1, now())', [account]);
  });
  return account;
}
