import { randomBytes } from 'node:crypto';
import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, inject } from 'vitest';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { databaseUrl, onServer } from './sql.ts';

export type Engine = Database['engine'];

/** A migrated database of one test: `await using` closes it, the end of the file removes it. */
export interface TestDatabase extends AsyncDisposable {
  readonly database: Database;
  /** Where another pool reaches the same database; Postgres only. */
  readonly url?: string;
}

/** Declares a suite once per engine; `%s` in the title is the engine. */
export const eachEngine = describe.each<Engine>(['postgres', 'embedded']);

const open = new Set<TestDatabase>();
const clones: string[] = [];
const directories: string[] = [];

/** Clones the migrated template of the engine. */
export async function testDatabase(engine: Engine): Promise<TestDatabase> {
  const where = engine === 'postgres' ? { url: await cloneDatabase() } : { dataDir: await copyDirectory() };
  const database = await openDatabase(where);
  const made: TestDatabase = {
    database,
    ...(where.url === undefined ? {} : { url: where.url }),
    async [Symbol.asyncDispose]() {
      open.delete(made);
      await database.close();
    },
  };
  open.add(made);
  return made;
}

/** Makes an empty database on the test server, dropped at the end of the file, and returns its URL. */
export function emptyDatabase(): Promise<string> {
  return create(`t_${randomBytes(6).toString('hex')}`, 'template0');
}

/** Makes a temporary directory, removed at the end of the file. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'heddle-test-'));
  directories.push(directory);
  return directory;
}

// Left in place when a test failed, to be looked at.
// biome-ignore lint/correctness/noEmptyPattern: vitest wants the first argument destructured, and we need the second.
afterAll(async ({}, file: Task) => {
  if (hasFailed(file)) return;
  if (open.size > 0) throw new Error(`${open.size} test databases were not closed: use \`await using\`.`);
  // Without FORCE: a session that is still open, a leaked pool, makes this fail and with it the file.
  for (const name of clones) await onServer(inject('postgresUrl'), `drop database ${name}`);
  for (const directory of directories) await rm(directory, { recursive: true });
});

interface Task {
  readonly result?: { readonly state: string } | undefined;
  readonly tasks?: readonly Task[];
}

function hasFailed(task: Task): boolean {
  return task.result?.state === 'fail' || (task.tasks?.some(hasFailed) ?? false);
}

function cloneDatabase(): Promise<string> {
  return create(`t_${randomBytes(6).toString('hex')}`, inject('postgresTemplate'));
}

async function create(name: string, template: string): Promise<string> {
  const server = inject('postgresUrl');
  await onServer(server, `create database ${name} template ${template}`);
  clones.push(name);
  return databaseUrl(server, name);
}

async function copyDirectory(): Promise<string> {
  const directory = await temporaryDirectory();
  cpSync(join(inject('embeddedTemplate'), 'postgres'), join(directory, 'postgres'), { recursive: true });
  return directory;
}
