import { LeaseLost } from '../../../commit/batch.ts';
import type { Engine } from '../../../commit/engine.ts';
import { accountsWith, overrideEntry } from '../../../db/accounts/directory.ts';
import { releaseLease, takeLease } from '../../../db/leases/leases.ts';
import { recordEvents } from '../../../db/logs/events.ts';
import { claimEntry, type DueClaims, endClaims, hasDueClaims } from '../../../db/sources/claims.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import type { AuditEvent } from '../../../model/declare/kind.ts';
import { NotFound } from '../../../model/errors.ts';
import { endOverrides } from '../../../objects/overrides.ts';

/** How the loop runs that ends what lasts for a while only: overrides, and the claims of refused pushes. */
export interface LapseLoopOptions {
  readonly engine: Engine;
  readonly everyMs?: number;
  /** Called with values that cannot return, claims that lapse, and errors. */
  report(level: 'warn' | 'error', message: string): void;
}

const usualMs = 10_000;

/** How many accounts one look is about; the next look goes on from there. */
const accountsAtOnce = 200;

/** How long other servers leave an account to the server that works on it. */
const leaseSeconds = 60;

/** How long before its end a claim is warned of, as a share of its time, and at the most. In seconds. */
const warningShare = 1 / 6;
const longestWarning = 600;

/**
 * Ends overrides and claims when their time is over, each account on one server at a time. Returns a function that stops it
 * and waits for what is under way.
 */
export function runLapseLoop(options: LapseLoopOptions): () => Promise<void> {
  const owner = options.engine.newId();
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let after = '';
  const look = async (): Promise<void> => {
    try {
      after = await endDue(options, owner, after);
    } catch (error) {
      options.report('error', `overrides and claims: ${messageOf(error)}; it is tried again`);
    }
    if (!stopped) timer = setTimeout(start, options.everyMs ?? usualMs);
  };
  let running: Promise<void> = Promise.resolve();
  const start = (): void => {
    running = look();
  };
  start();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await running;
  };
}

/** Looks at the next accounts; returns after which one to go on. */
async function endDue({ engine, report }: LapseLoopOptions, owner: string, after: string): Promise<string> {
  const accounts = await accountsWith(engine.database, [overrideEntry, claimEntry], after, accountsAtOnce);
  for (const account of accounts) {
    try {
      const lease = await takeLease(engine.database, { account, name: 'lapses', owner, seconds: leaseSeconds });
      if (lease === undefined) continue;
      const plan = await endOverrides(engine, account, lease);
      for (const { message } of plan?.warnings ?? []) report('warn', message);
      for (const due of await endLapsedClaims(engine, account)) report('warn', lapseMessage(due));
      await releaseLease(engine.database, lease);
    } catch (error) {
      const isOver = error instanceof NotFound || error instanceof LeaseLost;
      if (!isOver) report('error', `overrides and claims: ${messageOf(error)}; it is tried again`);
    }
  }
  return accounts.length < accountsAtOnce ? '' : (accounts.at(-1) ?? '');
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
