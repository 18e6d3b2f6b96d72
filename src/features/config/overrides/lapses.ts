import { runAccountRounds } from '../../../commit/account-rounds.ts';
import type { Engine } from '../../../commit/engine.ts';
import { overrideEntry } from '../../../db/accounts/directory.ts';
import { recordEvents } from '../../../db/logs/events.ts';
import { claimEntry, type DueClaims, endClaims, hasDueClaims } from '../../../db/sources/claims.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import type { AuditEvent } from '../../../model/declare/kind.ts';
import { endOverrides } from '../../../objects/overrides.ts';

/** How the loop runs that ends what lasts for a while only: overrides, and the claims of refused pushes. */
export interface LapseLoopOptions {
  readonly engine: Engine;
  readonly everyMs?: number;
  /** Called with values that cannot return, claims that lapse, and errors. */
  report(level: 'warn' | 'error', message: string): void;
}

/** How long before its end a claim is warned of, as a share of its time, and at the most. In seconds. */
const warningShare = 1 / 6;
const longestWarning = 600;

/**
 * Ends overrides and claims when their time is over, each account on one server at a time. Returns a function that stops it
 * and waits for what is under way.
 */
export function runLapseLoop({ engine, everyMs, report }: LapseLoopOptions): () => Promise<void> {
  return runAccountRounds({
    ...{ database: engine.database, subject: 'overrides and claims', lease: 'lapses', owner: engine.newId() },
    ...{ entries: [overrideEntry, claimEntry], everyMs, report },
    async work(account, lease, reportDue) {
      const plan = await endOverrides(engine, account, lease);
      for (const { message } of plan?.warnings ?? []) reportDue('warn', message);
      for (const due of await endLapsedClaims(engine, account)) reportDue('warn', lapseMessage(due));
    },
  });
}

/** The actor of what ends by time. */
const clock: Actor = { type: 'system', id: 'sys', name: 'system' };

/** Ends the claims of refused pushes whose time is over, and announces those that end soon. Returns both. */
export async function endLapsedClaims(engine: Engine, account: string): Promise<readonly DueClaims[]> {
  const warning = Math.min(longestWarning, engine.claimLapse * warningShare);
  if (!(await hasDueClaims(engine.database, account, warning))) return [];
  const due = await engine.database.holding(account, async (held) => {
    const found = await endClaims(held, account, warning);
    const events = found.map(
      ({ source, until, isOver }): AuditEvent => ({
        code: isOver ? 'config.claim.expired' : 'config.claim.expiring',
        target: source,
        meta: { source, until: until.toISOString() },
      }),
    );
    await recordEvents(held, account, { actor: clock, at: engine.now(), events });
    return found;
  });
  // Who was held up by them looks again.
  if (due.some(({ isOver }) => isOver)) engine.notices.publish({ what: 'sources', account });
  return due;
}

function lapseMessage({ source, until, isOver }: DueClaims): string {
  const at = until.toISOString();
  return isOver
    ? `source ${source}: what its refused push claims has lapsed at ${at}; other sources may change it again`
    : `source ${source}: what its refused push claims lapses at ${at}, unless it is pushed again`;
}
