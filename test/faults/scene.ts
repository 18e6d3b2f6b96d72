import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createEngine, productRegistry } from '../../src/app.ts';
import { statement } from '../../src/db/builder.ts';
import { loadSnapshot } from '../../src/db/commit/snapshots.ts';
import { type Database, type DatabaseOptions, openDatabase } from '../../src/db/database.ts';
import { createReader } from '../../src/documents/reader.ts';
import type { Registry } from '../../src/model/declare/registry.ts';
import { copyEmbedded, type Engine, migratedDatabase, temporaryDirectory } from '../setup/database.ts';
import { generateFiles } from '../setup/generate.ts';
import { addPeers } from '../setup/peers.ts';
import type { ApplierOptions } from './applier.ts';

const account = 'killed';
/** Number of peers that the documents of both sets refer to, so that applying a set changes access. */
const peers = 20;
/** Matches objects of the second set and none of the first. */
const secondSet = / again|"ttl":301/;

/** State of an account according to all its tables. */
export interface Look {
  readonly revision: number;
  /** Indexes of the sets that the account contains. Both at once would be a partial apply. */
  readonly sets: readonly number[];
  readonly counts: Readonly<Record<string, number>>;
}

/** A database with an account, and two sets of documents to apply to it. */
export interface Scene extends AsyncDisposable {
  readonly options: ApplierOptions;
  /** Reads the account after this Postgres session of a killed process has ended. */
  look(backend: number): Promise<Look>;
}

/** Creates the database and writes two sets of documents of `objects` objects each. */
export async function openScene(engine: Engine, objects: number): Promise<Scene> {
  const directory = await temporaryDirectory();
  const where = engine === 'postgres' ? { url: await migratedDatabase(), poolSize: 1 } : { dataDir: directory };
  if (engine === 'embedded') await copyEmbedded(directory);
  const database = await openDatabase(where);
  await database.asOwner(async (run) => {
    await run('insert into accounts (account_id, created_at) values ($1, now())', [account]);
  });
  const office = createEngine({ database });
  const labels = Array.from({ length: peers }, (_, at) => `peer-${at}`);
  await addPeers(office, account, labels);
  await office.committer.settle();
  if (engine === 'embedded') await database.close();
  const registry = productRegistry();
  const writeSet = (variant: string) => writeDocuments(directory, generateFiles(objects, { variant, peers }), variant);
  return {
    options: { where, account, sets: [await writeSet(''), await writeSet(' again')] },
    look: (backend) => (engine === 'postgres' ? lookAfter(database, registry, backend) : reopened(where, registry)),
    [Symbol.asyncDispose]: () => database.close(),
  };
}

/** Writes the documents as JSON, so that the killed process does not spend its time on reading YAML. */
async function writeDocuments(
  directory: string,
  files: ReturnType<typeof generateFiles>,
  name: string,
): Promise<string> {
  const reader = createReader();
  const { documents } = await reader.read(files);
  await reader.close();
  const path = join(directory, `documents${name.trim()}.json`);
  await writeFile(path, JSON.stringify(documents));
  return path;
}

/**
 * Reads the account when the session has ended, because statements that were sent before the kill may still be
 * executed.
 */
async function lookAfter(database: Database, registry: Registry, backend: number): Promise<Look> {
  const session = statement<{ readonly open: number }>('select count(*) as open from pg_stat_activity where pid = $1', [
    backend,
  ]);
  await expect.poll(() => database.lookUp(session), { interval: 5 }).toEqual([{ open: 0 }]);
  return look(database, registry);
}

/** Opens the data directory of a killed process and reads the account. */
async function reopened(where: DatabaseOptions, registry: Registry): Promise<Look> {
  const database = await openDatabase(where);
  const found = await look(database, registry);
  await database.close();
  return found;
}

const tables = ['objects', 'object_keys', 'object_refs', 'declared', 'revisions', 'changes', 'audit_events'];

const counting = `select ${tables.map((table) => `(select count(*) from ${table}) as ${table}`).join(', ')},
  (select audit_sequence from accounts) as audit_sequence, (select revision from accounts) as revision,
  (select max(revision) from revisions) as newest_revision, (select max(updated_revision) from objects) as newest_object`;

async function look(database: Database, registry: Registry): Promise<Look> {
  const [counts] = await database.lookUp(statement<Record<string, number>>(counting, []));
  const snapshot = await loadSnapshot(database, registry, account);
  const sets = new Set<number>();
  for (const object of snapshot?.objects() ?? []) {
    if (object.kind === 'Peer') continue;
    for (const { stated } of object.declared) sets.add(secondSet.test(JSON.stringify(stated)) ? 1 : 0);
    sets.add(secondSet.test(JSON.stringify(object.spec)) ? 1 : 0);
  }
  return { revision: snapshot?.revision ?? 0, sets: [...sets], counts: counts ?? {} };
}
