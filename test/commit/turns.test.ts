import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../src/app.ts';
import type { Engine } from '../../src/commit/engine.ts';
import { createTurns, type TurnTimes } from '../../src/commit/turns.ts';
import { turnLease } from '../../src/db/commit/commit-statement.ts';
import type { Database } from '../../src/db/database.ts';
import { takeLease } from '../../src/db/leases/leases.ts';
import { createObject } from '../../src/objects/objects.ts';
import { newOffice, type Office, withGroup } from './office.ts';

const times: TurnTimes = { lease: 1, most: 20, rest: 2 };

/** A server whose turns pass faster. */
function hasty(database: Database, turnTimes = times): Engine {
  return createEngine({ database, turnTimes });
}

function write(engine: Engine, { call }: Office, name: string): Promise<unknown> {
  return createObject(engine, call, engine.registry.get('Group'), { name }, { strict: false });
}

/** A server took the turn of the account and stopped. */
async function leaveTurn(database: Database, account: string): Promise<void> {
  await takeLease(database, { account, name: turnLease, owner: 'a server that is gone', seconds: times.lease });
}

async function hasTurn({ database, account }: Office): Promise<boolean> {
  const request = { account, name: turnLease, owner: 'whoever asks', seconds: 0 };
  return (await takeLease(database, request)) === undefined;
}

describe('the turn of a server', () => {
  it('lets a plan through that takes three times as long as its lease, while another server wants to write', async () => {
    await using office = await newOffice('postgres');
    const planner = hasty(office.database);
    const other = await office.another();
    const writes: Promise<unknown>[] = [];
    const committed = await planner.committer.mutate({
      ...office.call,
      async propose(state) {
        const outcome = withGroup(planner, state, 'planned');
        // As soon as the other server writes this plan is in vain.
        const overtaking = write(other, office, `g${writes.length}`);
        writes.push(overtaking);
        await Promise.race([overtaking, delay(3000 * times.lease)]);
        return outcome;
      },
    });
    expect(committed.ok).toBe(true);
    // Two lost races, and the turn.
    expect(writes).toHaveLength(3);
    await Promise.all(writes);
    const groups = (await planner.snapshots.fresh(office.account)).ofKind('Group').map(({ name }) => name);
    expect(groups.sort()).toEqual(['All', 'g0', 'g1', 'g2', 'planned']);
  });

  it('is followed by a rest in which those write who waited', async () => {
    await using office = await newOffice('postgres');
    const [first, second] = ['a', 'b'].map((name) => createTurns(office.database, name, times).open(office.account));
    await first?.take();
    const order: string[] = [];
    const written = write(office.engine, office, 'devs').then(() => order.push('written'));
    const taken = second?.take().then(() => order.push('taken'));
    await first?.end();
    await Promise.all([written, taken]);
    await second?.end();
    expect(order).toEqual(['written', 'taken']);
  });

  it('ends with its lease when the server has stopped, for commits of one account and of several', async () => {
    await using office = await newOffice('postgres');
    const { engine, call, account } = office;
    await leaveTurn(office.database, account);
    await write(engine, office, 'devs');
    expect(await hasTurn(office)).toBe(false);
    await leaveTurn(office.database, account);
    const together = await engine.committer.mutateTogether({
      actor: call.actor,
      accounts: [account],
      propose: (stateOf) => ({ [account]: withGroup(engine, stateOf(account), 'ops') }),
    });
    expect(together.ok).toBe(true);
    expect(await hasTurn(office)).toBe(false);
  });

  it('ends when it has lasted for as long as it may, whatever its owner does', async () => {
    await using office = await newOffice('postgres');
    const turn = createTurns(office.database, 'a', { ...times, most: 2 }).open(office.account);
    await turn.take();
    await write(office.engine, office, 'devs');
    expect(await hasTurn(office)).toBe(false);
    await turn.end();
  });
});
