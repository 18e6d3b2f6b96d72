import { setTimeout as delay } from 'node:timers/promises';
import { turnLease } from '../store/commit-statement.ts';
import type { Database } from '../store/database.ts';
import { leaseOwner, releaseLease, renewLease, takeLease } from '../store/leases.ts';

/**
 * Who may plan in peace. A plan that takes long would be overtaken again and again by the short ones of other servers; the
 * account must not be locked while it is planned, because a server that stops in the middle would stop all others with it.
 * So whoever lost too often asks for a turn, which the others see when they write next, and wait for.
 */
export interface Turns {
  /** Another server has the turn in an account: it was seen with a commit. */
  heard(account: string, owner: string): void;
  /** Waits while another server is known to have the turn. */
  respect(account: string): Promise<void>;
  /** Does the work with the turn, as far as it can be had. */
  holding<Value>(account: string, work: () => Promise<Value>): Promise<Value>;
}

/** How long a turn lasts when its owner stops in the middle, in seconds. */
const turnSeconds = 6;
/** How often it is prolonged, and how often at most, so that nobody waits for longer than half a minute. */
const prolongMs = 2000;
const mostProlongations = 12;
/** How often others look whether it is over, and for how long at most. */
const lookMs = 100;
const respectMs = 10_000;

/** Creates the turns of one server, whose name is `owner`. */
export function createTurns(database: Database, owner: string): Turns {
  const others = new Set<string>();
  return {
    heard(account, whose) {
      if (whose !== owner) others.add(account);
    },
    async respect(account) {
      if (!others.delete(account)) return;
      const begun = performance.now();
      while (performance.now() - begun < respectMs) {
        const whose = await courteous(() => leaseOwner(database, account, turnLease));
        if (whose === undefined || whose === owner) return;
        await delay(lookMs);
      }
    },
    async holding(account, work) {
      const request = { account, name: turnLease, owner, seconds: turnSeconds };
      const lease = await courteous(() => takeLease(database, request));
      if (lease === undefined) return work();
      let prolonged = 0;
      const timer = setInterval(() => {
        prolonged += 1;
        if (prolonged >= mostProlongations) clearInterval(timer);
        void courteous(() => renewLease(database, lease, turnSeconds));
      }, prolongMs);
      try {
        return await work();
      } finally {
        clearInterval(timer);
        await courteous(() => releaseLease(database, lease));
      }
    },
  };
}

/** A turn is a courtesy: what happens without it is right as well, only later; a database that fails is met by the work itself. */
function courteous<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  return work().catch(() => undefined);
}
