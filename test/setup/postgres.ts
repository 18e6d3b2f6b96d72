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
    /** A database of the test server from which others are made and dropped. */
    readonly postgresUrl: string;
    /** The name of a migrated database to clone. */
    readonly postgresTemplate: string;
    /** The data directory of a migrated embedded database to copy. */
    readonly embeddedTemplate: string;
  }
}

const template = `heddle_template_${process.pid}`;
const given = process.env['HEDDLE_TEST_DATABASE_URL'];
let server: PostgresServer | undefined;
let directory: string | undefined;

/** Starts one Postgres for the whole run (or takes HEDDLE_TEST_DATABASE_URL) and migrates one template per engine. */
export async function setup(project: TestProject): Promise<void> {
  endProcessesWithRun(makeTemporaryDirectory());
  directory = await mkdtemp(join(tmpdir(), 'heddle-test-'));
  try {
    project.provide('postgresUrl', await makePostgres());
    // Not beside it: the embedded database keeps the process so busy that connections time out on a loaded machine.
    await migrated({ dataDir: directory });
  } catch (error) {
    await teardown();
    throw error;
  }
  project.provide('postgresTemplate', template);
  project.provide('embeddedTemplate', directory);
}

/** Stops what `setup` started and removes its files. A run that left a process behind fails. */
export async function teardown(): Promise<void> {
  await server?.[Symbol.asyncDispose]();
  await removeFiles();
  await expectNoProcesses().catch((error: unknown) => {
    // Vitest prints what a teardown throws, and no more than that.
    process.exitCode = 1;
    throw error;
  });
}

async function removeFiles(): Promise<void> {
  // Workers write what they compiled when they end, which may be now.
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
