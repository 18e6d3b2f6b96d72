import type { Actor } from '../model/actor.ts';
import { Unavailable } from '../model/errors.ts';
import type { Problem } from '../model/problem.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { auditEvents } from '../plan/audit.ts';
import { isEmptyPlan, type Outcome, type Plan } from '../plan/plan.ts';
import { commit } from '../store/commit.ts';
import type { Database } from '../store/database.ts';
import type { RevisionInput } from '../store/history.ts';
import { catchUp } from '../store/snapshots.ts';
import { type CommittedTogether, mutateTogether, type SharedMutation } from './commit-together.ts';
import { attempts, resolveDoubt } from './doubt.ts';
import type { CommittedRevision } from './engine.ts';
import type { Snapshots } from './snapshots.ts';

/** Decides what a mutation does on a snapshot; called again when the account moved on in between. */
export type Propose = (snapshot: Snapshot) => Outcome | Promise<Outcome>;

export interface Mutation {
  readonly account: string;
  readonly actor: Actor;
  /** The caller has seen this revision. */
  readonly revision: number;
  readonly propose: Propose;
  readonly commitRef?: string;
  readonly planId?: string;
}

/** What became of a mutation. `revision` is absent when there was nothing to write. */
export type Committed =
  | {
      readonly ok: true;
      readonly plan: Plan;
      readonly revision?: number;
      readonly before: Snapshot;
      readonly after: Snapshot;
    }
  | { readonly ok: false; readonly problems: readonly Problem[]; readonly state: Snapshot };

/** The one way in which an account changes. */
export interface Committer {
  mutate(mutation: Mutation): Promise<Committed>;
  /** Changes several accounts at once, or none of them. */
  mutateTogether(mutation: SharedMutation): Promise<CommittedTogether>;
  /** Waits until no mutation is under way. */
  settle(): Promise<void>;
}

export interface CommitterOptions {
  readonly database: Database;
  readonly snapshots: Snapshots;
  now(): string;
  newRequestId(): string;
  /** Told about every revision, after it happened. */
  committed(revision: CommittedRevision): void;
  /** Told what should not happen, and goes on: SQL refused a batch, or a listener failed. */
  defect(what: string, error: unknown): void;
}

interface Waiting {
  readonly mutation: Mutation;
  resolve(committed: Committed): void;
  reject(error: unknown): void;
}

/** How many mutations one statement carries at most. */
const batchSize = 256;

/** Creates the committer: mutations of one account that wait are planned one on the other and written in one statement. */
export function createCommitter(options: CommitterOptions): Committer {
  const queues = new Map<string, Waiting[]>();
  const running = new Map<string, Promise<void>>();
  const shared = new Set<Promise<unknown>>();

  const drain = async (account: string, queue: Waiting[]): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue.splice(0, batchSize);
      await commitBatch(options, account, batch);
    }
    queues.delete(account);
    running.delete(account);
  };

  return {
    mutate(mutation) {
      return new Promise((resolve, reject) => {
        const queue = queues.get(mutation.account);
        const waiting = { mutation, resolve, reject };
        if (queue !== undefined) {
          queue.push(waiting);
          return;
        }
        const fresh = [waiting];
        queues.set(mutation.account, fresh);
        running.set(mutation.account, drain(mutation.account, fresh));
      });
    },
    mutateTogether(mutation) {
      const work = mutateTogether(options, mutation);
      shared.add(work);
      return work.finally(() => shared.delete(work));
    },
    async settle() {
      while (running.size + shared.size > 0) await Promise.allSettled([...running.values(), ...shared]);
    },
  };
}

/** Answers every mutation of the batch; never throws, because the queue goes on. */
async function commitBatch(options: CommitterOptions, account: string, batch: readonly Waiting[]): Promise<void> {
  let planned: Planned;
  try {
    planned = await writeBatch(options, account, batch);
  } catch (error) {
    if (batch.length === 1 || error instanceof Unavailable) {
      for (const waiting of batch) waiting.reject(error);
      return;
    }
    options.defect('the database refused a batch, which is now written one by one', error);
    for (const waiting of batch) await commitBatch(options, account, [waiting]);
    return;
  }
  // What is written is written: nothing that fails from here on may plan it again.
  finish(options, planned);
}

async function writeBatch(options: CommitterOptions, account: string, batch: readonly Waiting[]): Promise<Planned> {
  const { snapshots } = options;
  const seen = Math.max(...batch.map(({ mutation }) => mutation.revision));
  const base = await snapshots.at(account, seen);
  let planned: Planned | undefined = await planBatch(options, base, batch);
  if (planned.revisions.length > 0 && !(await write(options, base, planned))) planned = undefined;
  for (let attempt = 0; planned === undefined; attempt++) {
    if (attempt === attempts) throw new Unavailable(`the connection broke ${attempts} times; try again`);
    planned = await writeHolding(options, account, batch);
  }
  if (planned.revisions.length > 0) snapshots.advance(planned.tip);
  return planned;
}

/**
 * Plans and writes while no other server can, so that a large plan that lost a race is not overtaken again and again.
 * `undefined` when the connection broke before it was written.
 */
async function writeHolding(
  options: CommitterOptions,
  account: string,
  batch: readonly Waiting[],
): Promise<Planned | undefined> {
  const known = await options.snapshots.current(account);
  let planned: Planned | undefined;
  try {
    return await options.database.holding(account, async (held) => {
      const base = await catchUp(held, known);
      planned = await planBatch(options, base, batch);
      const { tip, revisions } = planned;
      if (revisions.length > 0) await commit(held, { base, next: tip, revisions });
      return planned;
    });
  } catch (error) {
    if (!(error instanceof Unavailable) || !error.inDoubt) throw error;
    if (planned === undefined || planned.revisions.length === 0) return planned;
    return (await resolveDoubt(options.database, account, planned.revisions, error)) ? planned : undefined;
  }
}

interface Planned {
  readonly tip: Snapshot;
  readonly revisions: readonly RevisionInput[];
  readonly results: readonly { readonly waiting: Waiting; readonly result: Committed | { readonly error: unknown } }[];
}

async function planBatch(options: CommitterOptions, base: Snapshot, batch: readonly Waiting[]): Promise<Planned> {
  let tip = base;
  const revisions: RevisionInput[] = [];
  const results: Planned['results'][number][] = [];
  const at = options.now();
  for (const waiting of batch) {
    const result = await proposeOn(tip, waiting.mutation);
    results.push({ waiting, result });
    if ('error' in result || !result.ok || result.revision === undefined) continue;
    const { actor, commitRef, planId } = waiting.mutation;
    const events = auditEvents(result.plan, result.before, result.after);
    revisions.push({
      revision: result.revision,
      plan: result.plan,
      actor,
      requestId: options.newRequestId(),
      commitRef,
      planId,
      at,
      events,
    });
    tip = result.after;
  }
  return { tip, revisions, results };
}

async function proposeOn(tip: Snapshot, mutation: Mutation): Promise<Committed | { readonly error: unknown }> {
  try {
    const outcome = await mutation.propose(tip);
    if (!outcome.ok) return { ok: false, problems: outcome.problems, state: tip };
    if (isEmptyPlan(outcome.plan)) return { ok: true, plan: outcome.plan, before: tip, after: tip };
    return { ok: true, plan: outcome.plan, revision: outcome.next.revision, before: tip, after: outcome.next };
  } catch (error) {
    return { error };
  }
}

/** Writes the batch. When the connection dies meanwhile, finds out whether it happened before anybody is answered. */
async function write(options: CommitterOptions, base: Snapshot, planned: Planned): Promise<boolean> {
  try {
    return await commit(options.database, { base, next: planned.tip, revisions: planned.revisions });
  } catch (error) {
    if (!(error instanceof Unavailable) || !error.inDoubt) throw error;
    return await resolveDoubt(options.database, base.account, planned.revisions, error);
  }
}

/** Answers everybody, then tells about the revisions. */
function finish(options: CommitterOptions, planned: Planned): void {
  for (const { waiting, result } of planned.results) {
    if ('error' in result) {
      waiting.reject(result.error);
      continue;
    }
    waiting.resolve(result);
    if (!result.ok || result.revision === undefined) continue;
    const { account, actor } = waiting.mutation;
    const { revision, plan, before, after } = result;
    tell(options, { account, revision, actor, plan, before, after });
  }
}

function tell(options: CommitterOptions, revision: CommittedRevision): void {
  try {
    options.committed(revision);
  } catch (error) {
    options.defect(`what listens to revisions failed at revision ${revision.revision}`, error);
  }
}
