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
/** What each set says is about somebody: it changes who reaches whom. */
const peers = 20;
/** What tells an object of the second set from one of the first. */
const secondSet = / again|"ttl":301/;

/** An account as all its tables say it is. */
export interface Look {
  readonly revision: number;
  /** Which of the two sets is in the account; both at once would be a half. */
  readonly sets: readonly number[];
  readonly counts: Readonly<Record<string, number>>;
}

/** A database with an account, and two sets of documents to apply to it. */
export interface Scene extends AsyncDisposable {
  readonly options: ApplierOptions;
  /** Looks at the account once this session of a process that is gone has ended. */
  look(backend: number): Promise<Look>;
}

/** Makes the database and writes the documents of so many objects. */
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

/** Documents as JSON: reading YAML is not what is killed. */
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

/** What was sent before the kill may still be executed: the account is looked at when that session is gone. */
async function lookAfter(database: Database, registry: Registry, backend: number): Promise<Look> {
  const session = statement<{ readonly open: number }>('select count(*) as open from pg_stat_activity where pid = $1', [
    backend,
  ]);
  await expect.poll(() => database.lookUp(session), { timeout: 20_000, interval: 5 }).toEqual([{ open: 0 }]);
  return look(database, registry);
}

/** Opens the directory that was left by a kill. */
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
