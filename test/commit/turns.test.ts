import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import type { CompiledQuery } from 'kysely';
import { describe, expect, it } from 'vitest';
import { connectNotices } from '../../src/app/notices.ts';
import { createEngine } from '../../src/app.ts';
import type { Engine } from '../../src/commit/engine.ts';
import { createNoticeBoard } from '../../src/commit/notices.ts';
import { createTurns, type Turn, type TurnTimeouts } from '../../src/commit/turns.ts';
import { joinLine, readFront } from '../../src/db/commit/turns.ts';
import type { Database } from '../../src/db/database.ts';
import { createObject } from '../../src/objects/objects.ts';
import { testDatabase } from '../setup/database.ts';
import { present } from '../setup/present.ts';
import { withInAccount } from '../setup/without-account-filter.ts';
import { newOffice, type Office, rowsOf, upTo, withGroup } from './office.ts';

const times: TurnTimeouts = { lease: 1, maxTurn: 20, sliceSeconds: 0.1, pollSeconds: 0.05 };

/** Creates an engine with short turns. */
function hasty(database: Database, turnTimes = times): Engine {
  return createEngine({ database, turnTimes });
}

function write(engine: Engine, { call }: Office, name: string): Promise<unknown> {
  return createObject(engine, call, engine.registry.get('Group'), { name }, { strict: false });
}

/** Adds two servers to the line of the account that have stopped. */
async function leaveStopped(database: Database, account: string): Promise<void> {
  for (const name of ['one', 'another']) await joinLine(database, account, `${name} that is gone`, times.lease);
}

async function isFree({ database, account }: Office): Promise<boolean> {
  return (await readFront(database, account)) === undefined;
}

/** Returns the contenders in the line of the only account, in order. */
async function lineOf(database: Database): Promise<readonly unknown[]> {
  const text = 'select contender from turns where until > clock_timestamp() order by place, contender';
  return (await rowsOf(database, text)).map(({ contender }) => contender);
}

/** Creates the turns of a server that receives no notices of other servers. */
function turnsOf(database: Database, name: string, turnTimes = times) {
  return createTurns(database, createNoticeBoard(), name, turnTimes);
}

/** Returns the same database, and the number of answered account transactions that contain this text in a statement. */
function counting(database: Database, text: string): { readonly counted: Database; count(): number } {
  let count = 0;
  const inAccount = async (id: string, statements: readonly CompiledQuery<unknown>[], options?: object) => {
    const rows = await database.inAccount(id, statements, options);
    if (statements.some(({ sql }) => sql.includes(text))) count += 1;
    return rows;
  };
  // The cast is safe: the rows are those of the inner database.
  return { counted: withInAccount(database, inAccount as unknown as Database['inAccount']), count: () => count };
}

/** Lists the database connections that listen for notices. */
const listening = "select pid from pg_stat_activity where query = 'listen heddle' and datname = current_database()";

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

/** Sequences of events in the line of an account. */
const steps = fc.array(
  fc.record({
    who: fc.integer({ min: 0, max: 3 }),
    what: fc.constantFrom('take', 'take', 'go on', 'end', 'stop', 'run out'),
  }),
  { minLength: 5, maxLength: 25 },
);

it('turns are granted in the order of requests, when some servers end, continue, or stop', async () => {
  await using made = await testDatabase('postgres');
  const { database } = made;
  let round = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const account = `a${++round}`;
      await database.asOwner([`insert into accounts (account_id, created_at) values ('${account}', now())`]);
      // Every turn has already exceeded its slice when `mayContinue` is called.
      const quick = { ...times, lease: 3600, sliceSeconds: 0, pollSeconds: 0.005 } satisfies TurnTimeouts;
      const line = new ModelLine();
      const contenders = upTo(4).map((at) => turnsOf(database, `s${at}`, quick).open(account));
      for (const { who, what } of list) {
        const turn = present(contenders[who]);
        await act(database, account, { line, turn, what });
        expect((await readFront(database, account))?.contender).toBe(line.front);
        // Only the server at the front of the line has the turn.
        if (line.front !== undefined) await line.taken.get(line.front);
      }
      for (const turn of contenders) {
        if (!line.names.includes(turn.contender)) continue;
        while (line.front !== turn.contender) await leave(database, account, line);
        await line.taken.get(turn.contender);
        await turn.leave();
        line.names.shift();
      }
    }),
    { numRuns: 25 },
  );
});

/** Expected order of the line, and for each server the promise of its turn. */
class ModelLine {
  readonly names: string[] = [];
  readonly taken = new Map<string, Promise<void>>();

  get front(): string | undefined {
    return this.names[0];
  }
}

interface Act {
  readonly line: ModelLine;
  readonly turn: Turn;
  readonly what: string;
}

async function act(database: Database, account: string, { line, turn, what }: Act): Promise<void> {
  const { contender } = turn;
  const isFront = line.front === contender;
  if (what === 'take' && !line.names.includes(contender)) {
    line.names.push(contender);
    line.taken.set(contender, turn.take());
    const isThere = `select from turns where account_id = '${account}' and contender = '${contender}' and until > clock_timestamp()`;
    await expect.poll(() => rowsOf(database, isThere), { interval: 2 }).toHaveLength(1);
  }
  if (what === 'go on' && isFront) {
    expect(await turn.mayContinue()).toBe(line.names.length === 1);
    line.names.push(...line.names.splice(0, 1));
    // The server waits for its next turn.
    line.taken.set(contender, turn.take());
  }
  if (what === 'end' && isFront) {
    await turn.leave();
    line.names.shift();
  }
  if (what === 'stop' && !line.names.includes(`${contender} is gone`)) {
    await joinLine(database, account, `${contender} is gone`, 3600);
    line.names.push(`${contender} is gone`);
  }
  if (what === 'run out') await runOut(database, account, line, `${contender} is gone`);
}

/** Lets the place of a stopped server expire, wherever it is in the line. */
async function runOut(database: Database, account: string, line: ModelLine, name: string): Promise<void> {
  if (!line.names.includes(name)) return;
  line.names.splice(line.names.indexOf(name), 1);
  await rowsOf(
    database,
    `update turns set until = clock_timestamp() where account_id = '${account}' and contender = '${name}' returning 1`,
  );
}

/**
 * Removes the server at the front: a stopped server by expiry, a running server by moving it to the end of the line.
 */
async function leave(database: Database, account: string, line: ModelLine): Promise<void> {
  const name = present(line.front);
  if (name.endsWith('gone')) return runOut(database, account, line, name);
  await rowsOf(
    database,
    `update turns set place = (select max(place) + 1 from turns where account_id = '${account}') where account_id = '${account}' and contender = '${name}' returning 1`,
  );
  line.names.push(...line.names.splice(0, 1));
}
