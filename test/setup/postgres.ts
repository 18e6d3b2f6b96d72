import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type DatabaseOptions, openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { makeTemporaryDirectory } from './memory.ts';
import { endProcessesWithRun, expectNoProcesses } from './processes.ts';
import { type PostgresServer, startPostgres } from './server.ts';
import { databaseUrl, dropOthers, onServer } from './sql.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of a database on the test server, from which other databases are created and dropped. */
    readonly postgresUrl: string;
    /** Name of a migrated database to clone. */
    readonly postgresTemplate: string;
    /** Data directory of a migrated embedded database to copy. */
    readonly embeddedTemplate: string;
  }
}

const template = `heddle_template_${process.pid}`;
const given = process.env['HEDDLE_TEST_DATABASE_URL'];
let server: PostgresServer | undefined;
let directory: string | undefined;

/** Starts one Postgres for the whole run (or uses HEDDLE_TEST_DATABASE_URL) and migrates one template per engine. */
export async function setup(project: TestProject): Promise<void> {
  endProcessesWithRun(makeTemporaryDirectory());
  directory = await mkdtemp(join(tmpdir(), 'heddle-test-'));
  try {
    project.provide('postgresUrl', await makePostgres());
    // Not in parallel with `makePostgres`: the embedded database keeps the process so busy that connections time out on
    // a loaded machine.
    await migrated({ dataDir: directory });
  } catch (error) {
    await teardown();
    throw error;
  }
  project.provide('postgresTemplate', template);
  project.provide('embeddedTemplate', directory);
}

/** Stops what `setup` started and removes its files. Fails a run that left a process behind. */
export async function teardown(): Promise<void> {
  await server?.[Symbol.asyncDispose]();
  await removeFiles();
  await expectNoProcesses().catch((error: unknown) => {
    // Vitest only prints an error that a teardown throws, so the exit code must be set here.
    process.exitCode = 1;
    throw error;
  });
}

async function removeFiles(): Promise<void> {
  // Workers write their compile cache when they end, which may be at this moment.
  if (directory !== undefined) await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  if (given === undefined) return;
  await dropOthers(given, template);
  await onServer(given, `drop database if exists ${template}`);
}

async function makePostgres(): Promise<string> {
  if (given === undefined) server = await startPostgres();
  const url = given ?? String(server?.url());
  await onServer(url, `create database ${template}`);
  await migrated({ url: databaseUrl(url, template) });
  return url;
}

async function migrated(options: DatabaseOptions): Promise<void> {
  const database = await openDatabase(options);
  await migrate(database);
  await database.close();
}
