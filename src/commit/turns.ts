import { setTimeout as delay } from 'node:timers/promises';
import { turnLease } from '../db/commit/commit-statement.ts';
import type { Database } from '../db/database.ts';
import { type Lease, leaseOwner, releaseLease, renewLease, takeLease } from '../db/leases/leases.ts';

/**
 * Who may plan undisturbed. A plan that takes long would be overtaken again and again by short ones of other servers;
 * the account must not be locked while it is planned, because a server that stops meanwhile would block all others. So
 * a server that lost too often takes a turn: a lease that every commit checks. While one server has it, the commits of
 * all others write nothing and report that, and their servers wait until it is over.
 */
export interface Turns {
  /** The name of this server: its own commits are written during its turn. */
  readonly server: string;
  /** Waits until no other server has the turn. */
  respect(account: string): Promise<void>;
  /** The turn of one piece of work, which is not taken yet. */
  open(account: string): Turn;
}

/** A turn that may be taken. */
export interface Turn {
  /** Waits for the turns of others to be over and takes it, as far as it can be had; nothing while it is held. */
  take(): Promise<void>;
  /** Gives it back, so that the others need not wait for its end. */
  end(): Promise<void>;
}

/** How turns pass between servers, in seconds. */
export interface TurnTimes {
  /** How long a turn lasts when its owner stops in the middle. It is prolonged three times as often. */
  readonly lease: number;
  /** For how long it is prolonged, counted from its start. */
  readonly most: number;
  /** How long the next turn cannot be taken: waiting servers commit in between. */
  readonly rest: number;
}

const usualTimes: TurnTimes = { lease: 6, most: 120, rest: 2 };

/** How often those who wait look whether it is over. */
const lookMs = 100;

/** Creates the turns of one server. */
export function createTurns(database: Database, server: string, times: TurnTimes = usualTimes): Turns {
  const isOthers = async (account: string): Promise<boolean> => {
    const owner = await leaseOwner(database, account, turnLease);
    return owner !== undefined && owner !== server;
  };
  const wait = async (account: string): Promise<Lease | undefined> => {
    const { lease: seconds, rest } = times;
    const request = { account, name: turnLease, owner: server, seconds, rest };
    // An account that is gone has no turn, and none can be taken.
    for (let free = 0; free * lookMs <= 2000 * rest; free++) {
      const lease = await takeLease(database, request);
      if (lease !== undefined) return lease;
      if (await isOthers(account)) free = 0;
      await delay(lookMs);
    }
    return undefined;
  };
  return {
    server,
    async respect(account) {
      while (await unlessAway(() => isOthers(account))) await delay(lookMs);
    },
    open(account) {
      let held: Held | undefined;
      return {
        async take() {
          if (held?.isOver() === false) return;
          const lease = await unlessAway(() => wait(account));
          held = lease === undefined ? undefined : hold(database, lease, times);
        },
        async end() {
          await held?.end();
        },
      };
    },
  };
}

/** A turn that was taken. */
interface Held {
  isOver(): boolean;
  end(): Promise<unknown>;
}

/** Prolongs a turn until it is given back, lost, or has lasted for as long as it may. */
function hold(database: Database, lease: Lease, times: TurnTimes): Held {
  const begun = performance.now();
  let ended: Promise<unknown> | undefined;
  const end = (): Promise<unknown> => {
    clearInterval(timer);
    ended ??= unlessAway(() => releaseLease(database, lease));
    return ended;
  };
  const prolong = async (): Promise<void> => {
    if (performance.now() - begun >= times.most * 1000) await end();
    else if ((await unlessAway(() => renewLease(database, lease, times.lease))) === false) await end();
  };
  const timer = setInterval(() => void prolong(), (times.lease * 1000) / 3);
  return { isOver: () => ended !== undefined, end };
}

/** A turn only saves attempts: without it the outcome is the same, only later; the work itself reports a database that is away. */
function unlessAway<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  return work().catch(() => undefined);
}
