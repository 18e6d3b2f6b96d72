import type { Actor } from '../model/actor.ts';
import { NotAllowed, NotFound } from '../model/errors.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { isAllowed } from '../plan/authorize.ts';
import type { BreakGlass } from '../plan/break-glass.ts';
import { planExpiry } from '../plan/expiry.ts';
import { isEmptyPlan, type Plan } from '../plan/plan.ts';
import { accountsWith, overrideEntry } from '../store/directory.ts';
import type { Engine } from './engine.ts';

/** How long, and why, a caller wants to set aside what sources state. */
export interface OverrideRequest {
  readonly reason: string;
  readonly seconds: number;
}

/** What a permitted caller gets. Throws `NotAllowed`. */
export function openGlass(
  state: Snapshot,
  actor: Actor,
  now: string,
  { reason, seconds }: OverrideRequest,
): BreakGlass {
  if (actor.type !== 'user' || !isAllowed(state, actor, 'config', 'update'))
    throw new NotAllowed(
      'overriding what sources state takes the right to change the configuration (config.override); ask an admin of the account, or change the document',
    );
  const until = new Date(Date.parse(now) + seconds * 1000).toISOString();
  return { by: { id: actor.id, name: actor.name }, reason, since: now, until };
}

/** Whoever ends what nobody has to end by hand. */
const clock: Actor = { type: 'system', id: 'sys', name: 'system' };

/** Ends the overrides of an account whose time is over. Answers what that did, `undefined` when none was due. */
export async function endOverrides(engine: Engine, account: string): Promise<Plan | undefined> {
  const { now, newId, means } = engine;
  const state = await engine.snapshots.fresh(account);
  const due = planExpiry({ snapshot: state, now: now(), newId, means });
  if (due.ok && isEmptyPlan(due.plan)) return undefined;
  const committed = await engine.committer.mutate({
    ...{ account, actor: clock, revision: state.revision },
    propose: (snapshot) => planExpiry({ snapshot, now: now(), newId, means }),
  });
  if (committed.ok) return committed.plan;
  throw new Error(`overrides cannot end: ${committed.problems.map(({ message }) => message).join('; ')}`);
}

/** How the loop that ends overrides runs. */
export interface OverrideLoopOptions {
  readonly engine: Engine;
  readonly everyMs?: number;
  /** Told what cannot return, and what went wrong. */
  tell(level: 'warn' | 'error', message: string): void;
}

const usualMs = 10_000;

/** How many accounts one look is about; the next look goes on from there. */
const accountsAtOnce = 200;

/** Ends overrides when their time is over. Returns a function that stops it and waits for what is under way. */
export function runOverrideLoop(options: OverrideLoopOptions): () => Promise<void> {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let after = '';
  const look = async (): Promise<void> => {
    try {
      after = await endDue(options, after);
    } catch (error) {
      options.tell('error', `overrides: ${messageOf(error)}; it is tried again`);
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

/** Looks at the next accounts; answers after which one to go on. */
async function endDue({ engine, tell }: OverrideLoopOptions, after: string): Promise<string> {
  const accounts = await accountsWith(engine.database, [overrideEntry], after, accountsAtOnce);
  for (const account of accounts) {
    try {
      const plan = await endOverrides(engine, account);
      for (const { message } of plan?.warnings ?? []) tell('warn', message);
    } catch (error) {
      if (!(error instanceof NotFound)) tell('error', `overrides: ${messageOf(error)}; it is tried again`);
    }
  }
  return accounts.length < accountsAtOnce ? '' : (accounts.at(-1) ?? '');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
