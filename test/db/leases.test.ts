import { expect, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import {
  explainLeaseLoss,
  type Lease,
  releaseLease,
  renewLease,
  revokeLease,
  takeLease,
} from '../../src/db/leases/leases.ts';
import { type Engine, eachEngine, testDatabase } from '../setup/database.ts';

const request = { account: 'a', name: 'source/x', seconds: 30 };
const take = (database: Database, owner: string) => takeLease(database, { ...request, owner });

/** Makes `seconds` pass for the leases: moves their ends back. */
async function pass(database: Database, seconds: number): Promise<void> {
  await database.asOwner(async (run) => {
    await run('update leases set until = until - $1::text::interval second', [String(seconds)]);
  });
}

async function held(database: Database, owner: string): Promise<Lease> {
  const lease = await take(database, owner);
  if (lease === undefined) throw new Error(`${owner} did not get the lease`);
  return lease;
}

/** Creates a database with two accounts. */
async function office(engine: Engine) {
  const made = await testDatabase(engine);
  await made.database.asOwner(["insert into accounts (account_id, created_at) values ('a', now()), ('b', now())"]);
  return made;
}

eachEngine('a lease on %s', (engine) => {
  it('has one owner until it expires, and a new fence for each owner', async () => {
    await using made = await office(engine);
    const { database } = made;
    const first = await held(database, 'one');
    expect(await take(database, 'two')).toBeUndefined();
    await pass(database, 29);
    expect(await take(database, 'two')).toBeUndefined();
    await pass(database, 2);
    expect(await take(database, 'two')).toMatchObject({ owner: 'two', fence: first.fence + 1 });
  });

  it('is extended by a renewal, but not after it expired or was taken', async () => {
    await using made = await office(engine);
    const { database } = made;
    const lease = await held(database, 'one');
    await pass(database, 29);
    expect(await renewLease(database, lease, 30)).toBe(true);
    await pass(database, 29);
    expect(await take(database, 'two')).toBeUndefined();
    await pass(database, 2);
    expect(await renewLease(database, lease, 30)).toBe(false);
    const next = await held(database, 'two');
    expect(await renewLease(database, lease, 30)).toBe(false);
    expect(await renewLease(database, next, 30)).toBe(true);
  });

  it('is free at once after release, and released by its owner only', async () => {
    await using made = await office(engine);
    const { database } = made;
    const lease = await held(database, 'one');
    await releaseLease(database, { ...lease, fence: lease.fence + 1 });
    expect(await take(database, 'two')).toBeUndefined();
    await releaseLease(database, lease);
    const next = await held(database, 'two');
    await releaseLease(database, lease);
    expect(await renewLease(database, next, 30)).toBe(true);
  });

  it('is not restored by a renewal after release', async () => {
    await using made = await office(engine);
    const { database } = made;
    const lease = await held(database, 'one');
    await releaseLease(database, lease);
    expect(await renewLease(database, lease, 30)).toBe(false);
    expect(await take(database, 'two')).toMatchObject({ owner: 'two' });
  });

  it('is reported as expired, taken, revoked or gone once lost', async () => {
    await using made = await office(engine);
    const { database } = made;
    const lease = await held(database, 'one');
    await pass(database, 40);
    expect(await explainLeaseLoss(database, lease)).toEqual({ state: 'over', seconds: expect.closeTo(10, -1) });
    const other = await held(database, 'two');
    expect(await explainLeaseLoss(database, lease)).toEqual({ state: 'taken', owner: 'two' });
    await revokeLease(database, other.account, other.name);
    expect(await explainLeaseLoss(database, other)).toEqual({ state: 'revoked' });
    expect(await explainLeaseLoss(database, { ...lease, name: 'source/none' })).toEqual({ state: 'gone' });
  });

  it('is granted to one of twenty concurrent callers', async () => {
    await using made = await office(engine);
    const asked = await Promise.all(Array.from({ length: 20 }, (_, at) => take(made.database, `owner ${at}`)));
    expect(asked.filter((lease) => lease !== undefined)).toHaveLength(1);
  });

  it('is not granted in a deleted account', async () => {
    await using made = await office(engine);
    expect(await takeLease(made.database, { ...request, account: 'gone', owner: 'one' })).toBeUndefined();
  });

  it('of one account does not affect another account', async () => {
    await using made = await office(engine);
    await held(made.database, 'one');
    expect(await takeLease(made.database, { ...request, account: 'b', owner: 'two' })).toMatchObject({ fence: 1 });
  });
});
