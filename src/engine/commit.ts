import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Actor } from '../model/actor.ts';
import { Conflict, NotAllowed, NotFound, Unavailable } from '../model/errors.ts';
import type { AuditEvent } from '../model/kind.ts';
import type { Problem } from '../model/problem.ts';
import type { Snapshot } from '../model/snapshot.ts';
import type { Outcome, Plan } from '../plan/plan.ts';
import { type CommitResult, commit } from '../store/commit.ts';
import type { AccountAccess, Database } from '../store/database.ts';
import type { Lease } from '../store/leases.ts';
import type { SavedPlan } from '../store/plans.ts';
import { catchUp } from '../store/snapshots.ts';
import { describeWriter } from '../store/writer-name.ts';
import { type Planned, planBatch, type Waiting } from './batch.ts';
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
  /** The caller may write nothing, so nothing is. */
  readonly planOnly?: true;
  readonly propose: Propose;
  readonly commitRef?: string;
  readonly planId?: string;
  /** The plan as it has to be kept beside the revision, if it has to be. */
  keep?(planned: Extract<Committed, { readonly ok: true }>): SavedPlan | undefined;
  /** Nothing is written unless this lease is held at that moment; throws `LeaseLost` when it is not. */
  readonly lease?: Lease;
  /** The digest of a plan that may pass its guards. */
  readonly approved?: string;
  /** Makes the id of the request, so that a repetition of it is recognised; absent: one of its own. */
  requestId?(): string;
  /** What is recorded beside the changes themselves. */
  audit?(plan: Plan): readonly AuditEvent[];
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
  /** People who go are forgotten by the identity provider of this server too. */
  readonly forgets: boolean;
  /** Told how long a mutation waited for others of its account, in seconds. */
  waited(seconds: number): void;
  /** Told about every revision, after it happened. */
  committed(revision: CommittedRevision): void;
  /** Told what should not happen, and goes on: SQL refused a batch, or a listener failed. */
  defect(what: string, error: unknown): void;
}

/** Why a caller that only plans is refused. */
export const planOnlyRefusal = 'the token may read and plan, and write nothing; use another one to write';

/** How many mutations one statement carries at most. */
const batchSize = 256;

/** Creates the committer: mutations of one account that wait are planned one on the other and written in one statement. */
export function createCommitter(options: CommitterOptions): Committer {
  const queues = new Map<string, Waiting[]>();
  const running = new Map<string, Promise<void>>();
  const shared = new Set<Promise<unknown>>();

  const drain = async (account: string, queue: Waiting[]): Promise<void> => {
    // Those who come in the same turn go along: without it the first of them goes alone, and all others wait for it.
    await nextTurn();
    while (queue.length > 0) {
      const batch = queue.splice(0, batchSize);
      for (const { since } of batch) options.waited((performance.now() - since) / 1000);
      await commitBatch(options, account, batch);
    }
    queues.delete(account);
    running.delete(account);
  };

  return {
    mutate(mutation) {
      if (mutation.planOnly === true) return Promise.reject(new NotAllowed(planOnlyRefusal));
      return new Promise((resolve, reject) => {
        const queue = queues.get(mutation.account);
        const requestId = mutation.requestId?.() ?? options.newRequestId();
        const waiting = { mutation, requestId, since: performance.now(), resolve, reject };
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
    if (batch.length === 1 || isAboutAll(error)) {
      for (const waiting of batch) waiting.reject(error);
      return;
    }
    if (!(error instanceof Conflict))
      options.defect('the database refused a batch, which is now written one by one', error);
    for (const waiting of batch) await commitBatch(options, account, [waiting]);
    return;
  }
  // What is written is written: nothing that fails from here on may plan it again.
  finish(options, planned);
}

/** Whether writing one by one would end the same way. */
function isAboutAll(error: unknown): boolean {
  return error instanceof Unavailable || (error instanceof Conflict && error.reason === 'locked');
}

async function writeBatch(options: CommitterOptions, account: string, batch: readonly Waiting[]): Promise<Planned> {
  const { snapshots } = options;
  const seen = Math.max(...batch.map(({ mutation }) => mutation.revision));
  const lost = new Set<string>();
  let planned: Planned | undefined;
  for (let race = false; planned === undefined && !race; ) {
    const attempt = await planBatch(options, await snapshots.at(account, seen), batch, lost);
    const result = attempt.revisions.length === 0 ? 'written' : await write(options, attempt);
    if (result === 'written') planned = attempt;
    race = result === 'moved';
    if (typeof result === 'object') for (const name of result.lost) lost.add(name);
  }
  for (let attempt = 0; planned === undefined; attempt++) {
    if (attempt === attempts) throw new Unavailable(`the connection broke ${attempts} times; try again`);
    planned = await writeHolding(options, account, batch, lost);
  }
  if (planned.revisions.length > 0) snapshots.advance(planned.tip);
  return planned;
}

/**
 * Plans and writes while no other server can, so that a large plan that lost a race is not overtaken again and again.
 * `undefined` when the connection broke before it was written, or a lease turned out to be lost.
 */
async function writeHolding(
  options: CommitterOptions,
  account: string,
  batch: readonly Waiting[],
  lost: Set<string>,
): Promise<Planned | undefined> {
  const known = await options.snapshots.current(account);
  let planned: Planned | undefined;
  try {
    const work = async (held: AccountAccess): Promise<Planned | undefined> => {
      const base = await catchUp(held, known);
      planned = await planBatch(options, base, batch, lost);
      const { tip, revisions } = planned;
      const result = revisions.length === 0 ? 'written' : await commit(held, { base, next: tip, revisions });
      // Nobody else can have moved an account that is held: it is gone.
      if (result === 'moved') throw new NotFound(`account ${account} not found`);
      if (result === 'written') return planned;
      for (const name of result.lost) lost.add(name);
      return undefined;
    };
    const by = batch[0] === undefined ? '' : describeWriter(batch[0].mutation);
    return await options.database.holding(account, work, by);
  } catch (error) {
    if (!(error instanceof Unavailable) || !error.inDoubt) throw error;
    if (planned === undefined || planned.revisions.length === 0) return planned;
    return (await resolveDoubt(options.database, account, planned.revisions, error)) ? planned : undefined;
  }
}

/** Writes the batch. When the connection dies meanwhile, finds out whether it happened before anybody is answered. */
async function write(options: CommitterOptions, planned: Planned): Promise<CommitResult> {
  const { base, tip: next, revisions } = planned;
  try {
    return await commit(options.database, { base, next, revisions });
  } catch (error) {
    if (!(error instanceof Unavailable) || !error.inDoubt) throw error;
    return (await resolveDoubt(options.database, base.account, revisions, error)) ? 'written' : 'moved';
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
