import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, inject, TestRunner } from 'vitest';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { killProcesses } from './processes.ts';
import { type Asking, askingOpen, askingServer, empty, isUsable, keptOpen, mustBeAlone, shapeOf } from './spares.ts';
import { databasePrefix, databaseUrl, markKept, onServer } from './sql.ts';

export type Engine = Database['engine'];

/** A migrated database for one test. `await using` closes it, and it is removed when the test file ends. */
export interface TestDatabase extends AsyncDisposable {
  readonly database: Database;
  /** URL for opening another pool on the same database. Postgres only. */
  readonly url?: string;
}

/** Declares a suite once per engine. `%s` in the title is replaced by the engine. */
export const eachEngine = describe.each<Engine>(['postgres', 'embedded']);

/** A database of this worker, which consecutive tests reuse. */
interface Spare {
  readonly engine: Engine;
  /** URL of the database. Postgres only. */
  readonly url?: string;
  /**
   * The database, which stays open between the tests: new connections would read the catalogs and prepare all
   * statements again, which costs more than the statements of most tests.
   */
  readonly database: Database;
  readonly asking: Asking;
  readonly shape: string;
}

const spares: Record<Engine, Spare[]> = { postgres: [], embedded: [] };
/**
 * Databases in use, with the test that uses each. `test` is `undefined` for a database that a file uses for all of its
 * tests.
 */
const used = new Map<Spare, { readonly test: Task | undefined; closed: boolean }>();
const leftovers: { readonly test: Task | undefined; readonly remove: () => Promise<unknown> }[] = [];

/**
 * Returns a migrated database without rows: one that an earlier test no longer uses, or a clone of the engine's
 * template.
 */
export async function testDatabase(engine: Engine): Promise<TestDatabase> {
  await takeBack(({ test }) => test?.result?.state === 'pass');
  const spare = spares[engine].pop() ?? (await (engine === 'postgres' ? newOnServer() : newEmbedded()));
  const { url = '' } = spare;
  const use = { test: TestRunner.getCurrentTest(), closed: false };
  used.set(spare, use);
  const database = keptOpen(spare.database);
  return {
    database,
    ...(url === '' ? {} : { url }),
    async [Symbol.asyncDispose]() {
      await database.close();
      use.closed = true;
    },
  };
}

/** Empties databases that are no longer used, so that later tests can use them. */
async function takeBack(isDone: (use: { readonly test: Task | undefined }) => boolean): Promise<void> {
  for (const [spare, use] of used) {
    if (!use.closed || !isDone(use)) continue;
    used.delete(spare);
    const isEmpty = await spare.asking(async (ask) => {
      if (spare.url !== undefined) await mustBeAlone(ask, spare.database);
      return empty(ask, spare.shape);
    });
    if (isEmpty && (await isUsable(spare.database))) spares[spare.engine].push(spare);
    else await spare.database.close();
  }
}

async function newOnServer(): Promise<Spare> {
  const url = await clone(inject('postgresTemplate'));
  const asking = askingServer(url);
  return { engine: 'postgres', url, database: await openDatabase({ url }), asking, shape: await asking(shapeOf) };
}

async function newEmbedded(): Promise<Spare> {
  const dataDir = await mkdtemp(join(inject('embeddedTemplate'), 'copy-'));
  await copyEmbedded(dataDir);
  const database = await openDatabase({ dataDir });
  const asking = askingOpen(database);
  return { engine: 'embedded', database, asking, shape: await asking(shapeOf) };
}

/**
 * Copies a migrated embedded database into a data directory, so that a server that starts there need not create one.
 */
export async function copyEmbedded(dataDir: string): Promise<void> {
  await cp(join(inject('embeddedTemplate'), 'postgres'), join(dataDir, 'postgres'), { recursive: true });
}

/** Creates an empty database on the test server and returns its URL. It is dropped when the test file ends. */
export function emptyDatabase(): Promise<string> {
  return create('template0');
}

/**
 * Creates a migrated database on the test server, so that a server that starts on it need not migrate, and returns its
 * URL. It is dropped when the test file ends.
 */
export function migratedDatabase(): Promise<string> {
  return create(inject('postgresTemplate'));
}

/** Creates a temporary directory and returns its path. It is removed when the test file ends. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'heddle-test-'));
  removeLater(() => rm(directory, { recursive: true }));
  return directory;
}

/**
 * Ends a test file. A database that was not closed is an error. Databases and files that a failed test used are kept
 * for inspection.
 */
export async function endFile(file: Task): Promise<void> {
  await takeBack(({ test }) => !hasFailed(test ?? file));
  const open = [...used.values()].filter(({ closed }) => !closed);
  for (const { url } of used.keys()) if (url !== undefined) await markKept(inject('postgresUrl'), url);
  used.clear();
  const removals = leftovers.splice(0).filter(({ test }) => !hasFailed(test ?? file));
  const processes = killProcesses();
  for (const { remove } of removals) await remove();
  if (open.length > 0) throw new Error(`${open.length} test databases were not closed: use \`await using\`.`);
  if (processes > 0 && !hasFailed(file))
    throw new Error(`${processes} processes were not stopped: use \`await using\`.`);
}

interface Task {
  readonly result?: { readonly state: string } | undefined;
  readonly tasks?: readonly Task[];
}

function hasFailed(task: Task): boolean {
  return task.result?.state === 'fail' || (task.tasks?.some(hasFailed) ?? false);
}

function removeLater(remove: () => Promise<unknown>): void {
  leftovers.push({ test: TestRunner.getCurrentTest(), remove });
}

async function create(template: string): Promise<string> {
  const url = await clone(template);
  removeLater(() => drop(nameOf(url)));
  return url;
}

/**
 * Drops a database without FORCE, so that a session that stays open (a leaked pool) makes this fail, and the test file
 * with it. Postgres waits 5 s for sessions to end. A session of a server that was killed in a long statement may take
 * longer on a busy machine, hence the retries.
 */
async function drop(name: string, tries = 12): Promise<void> {
  try {
    await onServer(inject('postgresUrl'), `drop database ${name}`);
  } catch (error) {
    const isInUse = error instanceof Error && 'code' in error && error.code === '55006';
    if (!isInUse || tries === 1) throw error;
    await drop(name, tries - 1);
  }
}

async function clone(template: string): Promise<string> {
  const server = inject('postgresUrl');
  const name = `${databasePrefix(inject('postgresTemplate'))}${randomBytes(6).toString('hex')}`;
  // Copying files is fast because a template has few, and the databases need not survive a crash.
  await onServer(server, `create database ${name} template ${template} strategy file_copy`);
  return databaseUrl(server, name);
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}
