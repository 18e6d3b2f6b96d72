import { randomBytes } from 'node:crypto';
import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, inject, TestRunner } from 'vitest';
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
const leftovers: { readonly test: Task | undefined; readonly remove: () => Promise<unknown> }[] = [];

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
  return create('template0');
}

/** Makes a temporary directory, removed at the end of the file. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'heddle-test-'));
  removeLater(() => rm(directory, { recursive: true }));
  return directory;
}

// What a failed test used is left in place, to be looked at.
// biome-ignore lint/correctness/noEmptyPattern: vitest wants the first argument destructured, and we need the second.
afterAll(async ({}, file: Task) => {
  if (open.size > 0) throw new Error(`${open.size} test databases were not closed: use \`await using\`.`);
  for (const { test, remove } of leftovers) if (!hasFailed(test ?? file)) await remove();
});

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

function cloneDatabase(): Promise<string> {
  return create(inject('postgresTemplate'));
}

async function create(template: string): Promise<string> {
  const server = inject('postgresUrl');
  const name = `t_${randomBytes(6).toString('hex')}`;
  await onServer(server, `create database ${name} template ${template}`);
  // Without FORCE: a session that is still open, a leaked pool, makes this fail and with it the file.
  removeLater(() => onServer(server, `drop database ${name}`));
  return databaseUrl(server, name);
}

async function copyDirectory(): Promise<string> {
  const directory = await temporaryDirectory();
  cpSync(join(inject('embeddedTemplate'), 'postgres'), join(directory, 'postgres'), { recursive: true });
  return directory;
}
