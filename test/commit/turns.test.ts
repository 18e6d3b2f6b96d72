import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { connectNotices } from '../../src/app/notices.ts';
import { createEngine } from '../../src/app.ts';
import { createTurns, type TurnTimeouts } from '../../src/commit/turns.ts';
import { joinLine, readFront } from '../../src/db/commit/turns.ts';
import { testDatabase } from '../setup/database.ts';
import { newOffice, rowsOf, upTo, withGroup } from './office.ts';
import { counting, hasty, lineOf, listening, times, turnsOf, write } from './short-turns.ts';
import { checkTurnOrder } from './turn-order.ts';

describe('the write turn of a server', () => {
  it('is waited for again by a server that lost the front of the queue', async () => {
    await using office = await newOffice('postgres');
    const { account, database } = office;
    const { counted, count } = counting(database, 'update accounts set revision');
    const engine = hasty(counted);
    const overtaker = `insert into turns values ('${account}', 'somebody', 0, clock_timestamp() + interval '1 hour') returning 1`;
    let proposals = 0;
    const committing = engine.committer.mutate({
      ...office.call,
      async propose(state) {
        proposals += 1;
        const outcome = withGroup(engine, state, 'planned');
        if (proposals < 3) await write(office.engine, office, `g${proposals}`);
        if (proposals === 3) await rowsOf(database, overtaker);
        return outcome;
      },
    });
    // Two commits that lost a race, and one that was refused because another server had the turn.
    await expect.poll(count).toBe(3);
    await rowsOf(database, "delete from turns where contender = 'somebody' returning 1");
    expect((await committing).ok).toBe(true);
    expect(proposals).toBe(4);
  });

  it('is waited for again by a server that stood still until its place expired', async () => {
    await using office = await newOffice('postgres');
    const { account, database } = office;
    const engine = createEngine({ database });
    let proposals = 0;
    const committed = await engine.committer.mutate({
      ...office.call,
      async propose(state) {
        proposals += 1;
        const outcome = withGroup(engine, state, 'planned');
        if (proposals === 3) await rowsOf(database, 'update turns set until = clock_timestamp() returning 1');
        // The other server writes whenever it need not wait.
        if ((await readFront(database, account)) === undefined) await write(office.engine, office, `g${proposals}`);
        return outcome;
      },
    });
    expect(committed.ok).toBe(true);
    // Two plans that lost a race, one whose turn expired, and one during the next turn.
    expect(proposals).toBe(4);
  });

  it('is kept after a commit of another server that was sent before the turn', async () => {
    await using office = await newOffice('postgres');
    const { database, account, call } = office;
    const { counted, count } = counting(database, 'insert into turns');
    const engine = createEngine({ database: counted });
    const plan = (name: string, before: readonly (() => Promise<unknown>)[]) => {
      let proposals = 0;
      return engine.committer.mutate({
        ...call,
        async propose(state) {
          const outcome = withGroup(engine, state, name);
          await before[proposals++]?.();
          return outcome;
        },
      });
    };
    const moveEnd = (text: string) =>
      rowsOf(database, `update turns set until = clock_timestamp() ${text} returning 1`);
    const line = async () =>
      (await rowsOf(database, 'select contender from turns order by place')).at(-1)?.['contender'];
    // Time stands still, so that the second plan begins a moment after the first has met another server.
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      await plan('first', [() => write(office.engine, office, 'one')]);
      expect(count()).toBe(0);
      const overtaken = async () => {
        expect(count()).toBe(1);
        await moveEnd('');
        await write(office.engine, office, 'two');
        await moveEnd("+ interval '6 seconds'");
        await joinLine(database, account, 'waiting', 3);
      };
      await plan('second', [overtaken, async () => expect([count(), await line()]).toEqual([2, 'waiting'])]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('ends when its place has expired, and is then waited for again', async () => {
    await using office = await newOffice('postgres');
    const { account, database } = office;
    const turn = turnsOf(database, 'a', { ...times, maxTurn: 3600 }).open(account);
    await turn.take();
    expect(turn.leaveStatements('r')).not.toEqual([]);
    await rowsOf(database, 'update turns set until = clock_timestamp() returning 1');
    await expect.poll(() => turn.leaveStatements('r')).toEqual([]);
    await turn.take();
    expect(turn.leaveStatements('r')).not.toEqual([]);
    await turn.leave();
  });

  it('is announced by a notice, on any server', async () => {
    await using made = await testDatabase('postgres');
    await made.database.asOwner(["insert into accounts (account_id, revision, created_at) values ('a', 7, now())"]);
    const [here, there] = [connectNotices(made.url), connectNotices(made.url)];
    // Only a notice may announce the turn, not polling.
    const rare = { ...times, lease: 3600, pollSeconds: 3600 } satisfies TurnTimeouts;
    const [first, second] = [here, there].map(({ notices }, at) =>
      createTurns(made.database, notices, `s${at}`, rare).open('a'),
    );
    await expect.poll(() => rowsOf(made.database, listening)).toHaveLength(2);
    await first?.take();
    const taken = second?.take();
    await expect.poll(() => lineOf(made.database)).toEqual(['s0', 's1']);
    await first?.leave();
    await taken;
    expect(second?.revision).toBe(7);
    await second?.leave();
    for (const { close } of [here, there]) await close();
  });
});

describe('servers that write to one account', () => {
  it('complete a commit of several accounts', async () => {
    await using office = await newOffice('postgres');
    const { engine, account, call } = office;
    const other = await office.another();
    let isDone = false;
    const busy = upTo(8).map(async (client) => {
      for (let at = 0; !isDone; at++) await write(other, office, `${client} ${at}`);
    });
    let proposals = 0;
    const together = await engine.committer.mutateTogether({
      actor: call.actor,
      accounts: [account],
      async propose(stateOf) {
        proposals += 1;
        // Long enough for the other server to write.
        await delay(100);
        return { [account]: withGroup(engine, stateOf(account), 'ops') };
      },
    });
    isDone = true;
    await Promise.all(busy);
    expect(together.ok).toBe(true);
    expect(proposals).toBeLessThanOrEqual(5);
  });

  it('do not queue while only one of them writes', async () => {
    await using office = await newOffice('postgres');
    const { counted, count } = counting(office.database, 'turns');
    const { counted: both, count: commits } = counting(counted, 'update accounts set revision');
    const engine = createEngine({ database: both });
    for (const at of upTo(20)) await Promise.all(upTo(5).map((client) => write(engine, office, `${client} ${at}`)));
    expect(count()).toBe(commits());
  });
});

it('turns are granted in the order of requests, when some servers end, continue, or stop', () => checkTurnOrder(5));
