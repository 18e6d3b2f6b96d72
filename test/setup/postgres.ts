import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { makeTemporaryDirectory } from './memory.ts';
import { migrated } from './migrated.ts';
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
    const [postgres, embedded] = await Promise.allSettled([makePostgres(), makeEmbedded(directory)]);
    if (postgres.status === 'rejected') throw postgres.reason;
    if (embedded.status === 'rejected') throw embedded.reason;
    project.provide('postgresUrl', postgres.value);
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

/**
 * Creates the template of embedded databases in its own process, because creating it takes seconds, in which connections
 * of this process to Postgres would time out on a loaded machine.
 */
async function makeEmbedded(dataDir: string): Promise<void> {
  const [code] = await once(fork(new URL('./migrated.ts', import.meta.url), [dataDir]), 'exit');
  if (code !== 0) throw new Error(`The template of embedded databases was not created: exit code ${code}.`);
}
