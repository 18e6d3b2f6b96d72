import { expect, it } from 'vitest';
import { createEngine } from '../../src/app.ts';
import { createSnapshots } from '../../src/commit/snapshots.ts';
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

/** Creates a cache that contains the present state of the office, and the state after a group was added to it. */
async function twoStates(office: Office, maxCommitWaitMs: number) {
  const { engine, account } = office;
  const base = await engine.snapshots.fresh(account);
  await addGroup(office, base.revision);
  const next = await engine.snapshots.current(account);
  const { database, transactions } = countTransactions(office.database);
  const snapshots = createSnapshots(database, engine.registry, { maxCommitWaitMs });
  snapshots.advance(base);
  return { snapshots, next, transactions };
}

const addGroup = ({ engine, call }: Office, revision: number) =>
  createObject(engine, { ...call, revision }, engine.registry.get('Group'), { name: `g${revision}` }, { strict: true });

it('a caller who has seen a commit of this server reads the changes when its answer does not come', async () => {
  await using office = await newOffice('postgres');
  const { snapshots, next, transactions } = await twoStates(office, 0);
  snapshots.expect(next, new Promise(() => {}));
  expect((await snapshots.atLeast(office.account, next.revision)).revision).toBe(next.revision);
  expect(transactions()).toBe(1);
});

it('a caller who has seen a later revision than the commit under way reads the changes at once', async () => {
  await using office = await newOffice('postgres');
  const { snapshots, next } = await twoStates(office, 1_000_000);
  snapshots.expect(next, new Promise(() => {}));
  await addGroup(office, next.revision);
  expect((await snapshots.atLeast(office.account, next.revision + 1)).revision).toBe(next.revision + 1);
});

it.each<[string, (commit: PromiseWithResolvers<void>) => void]>([
  ['was not written', (commit) => commit.resolve()],
  ['failed', (commit) => commit.reject(new Error('lost'))],
])('a caller who has seen the revision of a commit that %s reads the changes of another server', async (_, settle) => {
  await using office = await newOffice('postgres');
  const { snapshots, next, transactions } = await twoStates(office, 1_000_000);
  const commit = Promise.withResolvers<void>();
  snapshots.expect(next, commit.promise);
  const reading = snapshots.atLeast(office.account, next.revision);
  settle(commit);
  expect(await reading).not.toBe(next);
  expect((await reading).revision).toBe(next.revision);
  expect(transactions()).toBe(1);
});
