import { runAccountRounds } from '../../../commit/account-rounds.ts';
import type { Engine } from '../../../commit/engine.ts';
import { overrideEntryKind } from '../../../db/accounts/directory.ts';
import { recordEvents } from '../../../db/logs/events.ts';
import { claimEntryKind, type DueClaims, endClaims, hasDueClaims } from '../../../db/sources/claims.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import type { AuditEvent } from '../../../model/declare/kind.ts';
import { endOverrides } from '../../../objects/overrides.ts';

/** Options of the loop that ends what is temporary: overrides, and claims of refused pushes. */
export interface LapseLoopOptions {
  readonly engine: Engine;
  readonly everyMs?: number;
  /** Called with values that cannot return, claims that lapse or soon will, and errors. */
  report(level: 'warn' | 'error', message: string): void;
}

/**
 * Time before its end at which a claim is warned of, as a share of its lifetime. `maxWarningSeconds` is the maximum, in
 * seconds.
 */
const warningShare = 1 / 6;
const maxWarningSeconds = 600;

/**
 * Ends overrides and claims when their time is over. Each account is handled by one server at a time. Returns a
 * function that stops the loop and waits for the running work.
 */
export function runLapseLoop({ engine, everyMs, report }: LapseLoopOptions): () => Promise<void> {
  return runAccountRounds({
    ...{ database: engine.database, subject: 'overrides and claims', lease: 'lapses', owner: engine.newId() },
    ...{ entries: [overrideEntryKind, claimEntryKind], everyMs, report },
    async work(account, lease, reportDue) {
      const plan = await endOverrides(engine, account, lease);
      for (const { message } of plan?.warnings ?? []) reportDue('warn', message);
      for (const due of await endLapsedClaims(engine, account)) reportDue('warn', lapseMessage(due));
    },
  });
}

/** The actor of changes that happen because their time is over. */
const systemActor: Actor = { type: 'system', id: 'sys', name: 'system' };

/**
 * Ends the claims of refused pushes whose time is over, and writes events for these and for the claims that end soon.
 * Returns both.
 */
export async function endLapsedClaims(engine: Engine, account: string): Promise<readonly DueClaims[]> {
  const warning = Math.min(maxWarningSeconds, engine.claimLapseSeconds * warningShare);
  if (!(await hasDueClaims(engine.database, account, warning))) return [];
  const due = await engine.database.withAccountLock(account, async (held) => {
    const found = await endClaims(held, account, warning);
    const events = found.map(
      ({ source, until, isOver }): AuditEvent => ({
        code: isOver ? 'config.claim.expired' : 'config.claim.expiring',
        target: source,
        meta: { source, until: until.toISOString() },
      }),
    );
    await recordEvents(held, account, { actor: systemActor, at: engine.now(), events });
    return found;
  });
  // Sources that the claims blocked plan again.
  if (due.some(({ isOver }) => isOver)) engine.notices.publish({ what: 'sources', account });
  return due;
}

function lapseMessage({ source, until, isOver }: DueClaims): string {
  const at = until.toISOString();
  return isOver
    ? `source ${source}: the claims of its rejected push lapsed at ${at}; other sources may change the claimed values again`
    : `source ${source}: the claims of its rejected push lapse at ${at}, unless it is pushed again`;
}
