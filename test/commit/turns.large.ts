import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { connectNotices } from '../../src/app/notices.ts';
import { createEngine } from '../../src/app.ts';
import type { TurnTimeouts } from '../../src/commit/turns.ts';
import { joinLine, readFront } from '../../src/db/commit/turns.ts';
import type { Database } from '../../src/db/database.ts';
import { newOffice, type Office, rowsOf, upTo, withGroup } from './office.ts';
import { counting, hasty, lineOf, listening, times, turnsOf, write } from './short-turns.ts';
import { checkTurnOrder } from './turn-order.ts';

/** Adds two servers to the line of the account that have stopped. */
async function leaveStopped(database: Database, account: string): Promise<void> {
  for (const name of ['one', 'another']) await joinLine(database, account, `${name} that is gone`, times.lease);
}

async function isFree({ database, account }: Office): Promise<boolean> {
  return (await readFront(database, account)) === undefined;
}

describe('the write turn of a server', () => {
  it('commits a plan that takes three times as long as its lease, while another server wants to write', async () => {
    await using office = await newOffice('postgres');
    const planner = hasty(office.database);
    const other = await office.another();
    const writes: Promise<unknown>[] = [];
    const committed = await planner.committer.mutate({
      ...office.call,
      async propose(state) {
        const outcome = withGroup(planner, state, 'planned');
        // This plan is outdated as soon as the other server writes.
        const overtaking = write(other, office, `g${writes.length}`);
        writes.push(overtaking);
        await Promise.race([overtaking, delay(3000 * times.lease)]);
        return outcome;
      },
    });
    expect(committed.ok).toBe(true);
    // Two plans that lost a race, and one during the turn.
    expect(writes).toHaveLength(3);
    await Promise.all(writes);
    const groups = (await planner.snapshots.fresh(office.account)).ofKind('Group').map(({ name }) => name);
    expect(groups.sort()).toEqual(['All', 'g0', 'g1', 'g2', 'planned']);
  });

  it('ends with its lease after the server has stopped, for commits of one account and of several', async () => {
    await using office = await newOffice('postgres');
    const { engine, call, account } = office;
    await leaveStopped(office.database, account);
    await write(engine, office, 'devs');
    expect(await lineOf(office.database)).toEqual([]);
    await leaveStopped(office.database, account);
    const together = await engine.committer.mutateTogether({
      actor: call.actor,
      accounts: [account],
      propose: (stateOf) => ({ [account]: withGroup(engine, stateOf(account), 'ops') }),
    });
    expect(together.ok).toBe(true);
    expect(await isFree(office)).toBe(true);
  });

  it('ends after the maximum duration, whatever its owner does', async () => {
    await using office = await newOffice('postgres');
    const turn = turnsOf(office.database, 'a', { ...times, maxTurn: 2 }).open(office.account);
    await turn.take();
    await write(office.engine, office, 'devs');
    expect(await isFree(office)).toBe(true);
    await turn.leave();
  });
});

describe('servers that write to one account', () => {
  it('share turns fairly: when the first has finished, each other one has written at least a third', async () => {
    await using office = await newOffice('postgres');
    const { database } = office;
    const boards = upTo(3).map(() => connectNotices(office.made.url));
    await expect.poll(() => rowsOf(database, listening)).toHaveLength(3);
    // Only notices may announce turns, not polling, so the test fails when a notice is lost.
    const turnTimes = { ...times, lease: 3600, pollSeconds: 3600 } satisfies TurnTimeouts;
    const engines = boards.map(({ notices }, at) => ({
      name: 'abc'.charAt(at),
      engine: createEngine({ database, notices, turnTimes }),
    }));
    // Each server has 16 clients, and each client writes sequentially.
    await Promise.all(
      engines.flatMap(({ name, engine }) =>
        upTo(16).map(async (client) => {
          for (const at of upTo(15)) await write(engine, office, `${name} ${client} ${at}`);
        }),
      ),
    );
    for (const { close } of boards) await close();
    const text = `select name from changes where kind = 'Group' and name <> 'All' order by revision`;
    const order = (await rowsOf(database, text)).map(({ name }) => String(name).slice(0, 1));
    expect(order).toHaveLength(3 * 240);
    const firstEnd = Math.min(...engines.map(({ name }) => order.lastIndexOf(name)));
    const written = engines.map(({ name }) => order.slice(0, firstEnd + 1).filter((one) => one === name).length);
    expect(Math.min(...written)).toBeGreaterThanOrEqual(80);
  });

  it('rarely plan in vain: most of the commits they send are written', async () => {
    await using office = await newOffice('postgres');
    const { counted: commits, count } = counting(office.database, 'update accounts set revision');
    const { counted, count: leaves } = counting(commits, 'update turns set place');
    const engines = upTo(3).map(() => createEngine({ database: counted }));
    await Promise.all(
      engines.flatMap((engine, server) =>
        upTo(8).map(async (client) => {
          for (const at of upTo(15)) await write(engine, office, `${server} ${client} ${at}`);
        }),
      ),
    );
    // Revisions that are written in one batch have the same time.
    const text = `select count(distinct created_at)::int as batches from revisions where revision > 2`;
    const [row] = await rowsOf(office.database, text);
    expect(count()).toBeLessThan(1.5 * Number(row?.['batches']));
    // Most commits leave the line in their own transaction, without a separate statement.
    expect(leaves()).toBeLessThan(0.5 * Number(row?.['batches']));
  });
});

it('turns are granted in the order of requests, when some servers end, continue, or stop', () => checkTurnOrder(25));
