import { expect, it } from 'vitest';
import { createEngine } from '../../src/app.ts';
import type { Database } from '../../src/db/database.ts';
import { createObject } from '../../src/objects/objects.ts';
import { countTransactions } from '../bench/counting.ts';
import { newOffice, type Office } from './office.ts';

/**
 * Returns an engine whose answers to commits are held back, the promise of the first held answer, a function that
 * releases the answers, and a function that counts transactions.
 */
function holdingCommits({ database }: Office) {
  const counted = countTransactions(database);
  const [written, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const inAccount: Database['inAccount'] = async (account, statements, options) => {
    const rows = await counted.database.inAccount(account, statements, options);
    if (options?.write !== true) return rows;
    written.resolve();
    await released.promise;
    return rows;
  };
  const engine = createEngine({ database: { ...counted.database, inAccount } });
  return { engine, written: written.promise, release: released.resolve, transactions: counted.transactions };
}

/** Starts to create a group, and returns when the commit is written and its answer held back. */
async function startCommit(office: Office) {
  const held = holdingCommits(office);
  const { revision } = await held.engine.snapshots.current(office.account);
  const { engine } = held;
  const created = createObject(engine, office.call, engine.registry.get('Group'), { name: 'g' }, { strict: true });
  await held.written;
  return { ...held, created, revision: revision + 1 };
}

it('a caller who has seen a commit of this server before its answer waits for it, and does not read the changes', async () => {
  await using office = await newOffice('postgres');
  const { engine, created, revision, release, transactions } = await startCommit(office);
  const before = transactions();
  const reading = engine.snapshots.atLeast(office.account, revision);
  release();
  expect((await reading).revision).toBe(revision);
  await created;
  expect(transactions()).toBe(before);
});

it('a caller who has seen a commit of this server reads the changes when its answer does not come', async () => {
  await using office = await newOffice('postgres');
  const { engine, created, revision, release, transactions } = await startCommit(office);
  const before = transactions();
  expect((await engine.snapshots.atLeast(office.account, revision)).revision).toBe(revision);
  expect(transactions()).toBe(before + 1);
  release();
  await created;
});

it('a caller who has seen a later revision than a commit under way reads the changes at once', async () => {
  await using office = await newOffice('postgres');
  const { engine, created, revision, release } = await startCommit(office);
  const group = office.engine.registry.get('Group');
  await createObject(office.engine, { ...office.call, revision }, group, { name: 'h' }, { strict: true });
  expect((await engine.snapshots.atLeast(office.account, revision + 1)).revision).toBe(revision + 1);
  release();
  await created;
});
