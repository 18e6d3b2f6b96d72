import fc from 'fast-check';
import { expect } from 'vitest';
import type { Turn, TurnTimeouts } from '../../src/commit/turns.ts';
import { joinLine, readFront } from '../../src/db/commit/turns.ts';
import type { Database } from '../../src/db/database.ts';
import { testDatabase } from '../setup/database.ts';
import { present } from '../setup/present.ts';
import { rowsOf, upTo } from './office.ts';
import { times, turnsOf } from './short-turns.ts';

/** Sequences of events in the line of an account. */
const steps = fc.array(
  fc.record({
    who: fc.integer({ min: 0, max: 3 }),
    what: fc.constantFrom('take', 'take', 'go on', 'end', 'stop', 'run out'),
  }),
  { minLength: 5, maxLength: 25 },
);

/** Checks the order of turns in this number of random sequences of events. */
export async function checkTurnOrder(runs: number): Promise<void> {
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
    { numRuns: runs },
  );
}

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
