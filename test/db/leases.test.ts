import { expect, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import {
  explainLost,
  type Lease,
  releaseLease,
  renewLease,
  revokeLease,
  takeLease,
} from '../../src/db/leases/leases.ts';
import { type Engine, eachEngine, testDatabase } from '../setup/database.ts';

const request = { account: 'a', name: 'source/x', seconds: 30 };
const take = (database: Database, owner: string) => takeLease(database, { ...request, owner });

/** As if so much time had passed for the database. */
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

/** A database with two accounts. */
async function office(engine: Engine) {
  const made = await testDatabase(engine);
  await made.database.asOwner(["insert into accounts (account_id, created_at) values ('a', now()), ('b', now())"]);
  return made;
}

eachEngine('a lease on %s', (engine) => {
  it('has one owner until it runs out, and each owner its own fence', async () => {
    await using made = await office(engine);
    const { database } = made;
    const first = await held(database, 'one');
    expect(await take(database, 'two')).toBeUndefined();
    await pass(database, 29);
    expect(await take(database, 'two')).toBeUndefined();
    await pass(database, 2);
    expect(await take(database, 'two')).toMatchObject({ owner: 'two', fence: first.fence + 1 });
  });

  it('is kept by renewing it, and not after it ran out or changed hands', async () => {
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

  it('that is given back is free at once, and only its owner can give it back', async () => {
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

  it('is not brought back by a renewal that comes late', async () => {
    await using made = await office(engine);
    const { database } = made;
    const lease = await held(database, 'one');
    await releaseLease(database, lease);
    expect(await renewLease(database, lease, 30)).toBe(false);
    expect(await take(database, 'two')).toMatchObject({ owner: 'two' });
  });

  it('that is lost is distinguished from one that was taken, taken away, or is gone', async () => {
    await using made = await office(engine);
    const { database } = made;
    const lease = await held(database, 'one');
    await pass(database, 40);
    expect(await explainLost(database, lease)).toEqual({ state: 'over', seconds: expect.closeTo(10, -1) });
    const other = await held(database, 'two');
    expect(await explainLost(database, lease)).toEqual({ state: 'taken', owner: 'two' });
    await revokeLease(database, other.account, other.name);
    expect(await explainLost(database, other)).toEqual({ state: 'revoked' });
    expect(await explainLost(database, { ...lease, name: 'source/none' })).toEqual({ state: 'gone' });
  });

  it('is given to one of twenty who ask at once', async () => {
    await using made = await office(engine);
    const asked = await Promise.all(Array.from({ length: 20 }, (_, at) => take(made.database, `owner ${at}`)));
    expect(asked.filter((lease) => lease !== undefined)).toHaveLength(1);
  });

  it('is not given in an account that is gone', async () => {
    await using made = await office(engine);
    expect(await takeLease(made.database, { ...request, account: 'gone', owner: 'one' })).toBeUndefined();
  });

  it('of one account is nothing to another', async () => {
    await using made = await office(engine);
    await held(made.database, 'one');
    expect(await takeLease(made.database, { ...request, account: 'b', owner: 'two' })).toMatchObject({ fence: 1 });
  });
});
