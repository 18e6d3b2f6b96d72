import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PlannedClaims } from '../db/commit/history.ts';
import { findRequest } from '../db/commit/idempotency.ts';
import type { KeptValues } from '../db/commit/kept-values.ts';
import type { SavedPlan } from '../db/config/plans.ts';
import type { AccountAccess, Database } from '../db/database.ts';
import type { Lease } from '../db/leases/leases.ts';
import type { StatusUpdate } from '../db/peers/peer-status.ts';
import { alreadyDone } from '../db/repeated-requests.ts';
import type { Actor } from '../model/declare/actor.ts';
import type { AuditEvent } from '../model/declare/kind.ts';
import { Conflict, NotAllowed, Unavailable } from '../model/errors.ts';
import type { Problem } from '../model/problem.ts';
import type { CommitInfo } from '../model/state/object.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import type { Outcome, Plan } from '../plan/plan.ts';
import { currentContext, runIn, runInBackground } from '../telemetry/context.ts';
import { traced } from '../telemetry/span.ts';
import {
  type BatchProgress,
  type BatchWriter,
  batchSize,
  type Planned,
  planAhead,
  type Queue,
  type Waiting,
  type Writing,
  writeBatch,
} from './batch.ts';
import { type CommittedTogether, mutateTogether, type SharedMutation } from './commit-together.ts';
import type { CommittedRevision } from './engine.ts';
import { isInDoubt } from './in-doubt.ts';
import type { NoticeBoard } from './notices.ts';
import type { ShownOnce } from './shown-once.ts';
import type { Snapshots } from './snapshots.ts';
import { createTurns, type TurnTimes } from './turns.ts';

/**
 * Decides what a mutation does on a snapshot; called again when the account moved on in between. Whatever else it reads of
 * the account it reads with what it is given, because the account may be held meanwhile.
 */
export type Propose = (snapshot: Snapshot, database: AccountAccess) => Outcome | Promise<Outcome>;

export interface Mutation {
  readonly account: string;
  readonly actor: Actor;
  /** The caller has seen this revision. */
  readonly revision: number;
  /** The caller may write nothing, so nothing is. */
  readonly planOnly?: true;
  readonly propose: Propose;
  readonly commitRef?: string;
  readonly commitInfo?: CommitInfo;
  readonly planId?: string;
  /** The plan as it has to be kept beside the revision, if it has to be. */
  keep?(planned: Extract<Committed, { readonly ok: true }>): SavedPlan | undefined;
  /** Nothing is written unless this lease is held at that moment; throws `LeaseLost` when it is not. */
  readonly lease?: Lease;
  /** The digest of a plan that may pass its guards. */
  readonly approved?: string;
  /** Makes the id of the request, so that a repetition of it is recognised; absent: one of its own. */
  requestId?(): string;
  /** As of `Call`. */
  readonly isRepeated?: true;
  /** As of `Call`. */
  sealOnce?(values: ShownOnce): KeptValues;
  /** What is observed about the peers of the plan, and stored with it. */
  observe?(): readonly StatusUpdate[];
  /** What the plan leaves of the claims of sources, and which claims it was made with: with others it is made again. */
  claims?(plan: Plan): PlannedClaims | undefined;
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
  readonly notices: NoticeBoard;
  /** Absent: as usual. */
  readonly turnTimes?: TurnTimes | undefined;
  now(): string;
  newRequestId(): string;
  /** People who go are forgotten by the identity provider of this server too. */
  readonly forgets: boolean;
  /** Called with how long a mutation waited for others of its account, in seconds. */
  waited(seconds: number): void;
  /** Called with the state that follows when the statement that was just sent is written. It may not be. */
  coming(base: Snapshot, next: Snapshot): void;
  /** Called with every revision, after it is committed. */
  committed(revision: CommittedRevision): void;
  /** Called with a defect that does not stop the queue: SQL refused a batch, or a listener failed. */
  defect(what: string, error: unknown): void;
}

/** Why a caller that only plans is refused. */
export const planOnlyRefusal = 'the token may read and plan, and write nothing; use another one to write';

/** Creates the committer: mutations of one account that wait are planned one on the other and written in one statement. */
export function createCommitter(options: CommitterOptions): Committer {
  const { database, notices, turnTimes } = options;
  const writer = { ...options, turns: createTurns(database, notices, options.newRequestId(), turnTimes) };
  const queues = new Map<string, Queue>();
  const running = new Map<string, Promise<void>>();
  const shared = new Set<Promise<unknown>>();

  const drain = async (account: string, queue: Queue): Promise<void> => {
    // Those who come in the same turn go along: without it the first of them goes alone, and all others wait for it.
    await nextTurn();
    const writing = { account, queue, turn: writer.turns.open(account) };
    let last: Step = {};
    do {
      last = await drainStep(writer, writing, last);
      // Others write before what comes from now on.
      if (isIdle(queue, last)) await writing.turn.end();
    } while (!isIdle(queue, last));
    queues.delete(account);
    running.delete(account);
  };

  return {
    mutate(mutation) {
      if (mutation.planOnly === true) return Promise.reject(new NotAllowed(planOnlyRefusal));
      const requestId = mutation.requestId?.() ?? options.newRequestId();
      const join = (resolve: Waiting['resolve'], reject: Waiting['reject']): void => {
        const queue = queues.get(mutation.account);
        const context = currentContext();
        const waiting = { mutation, requestId, context, since: performance.now(), resolve, reject };
        if (queue !== undefined) {
          queue.waiting.push(waiting);
          queue.arrived();
          return;
        }
        const fresh: Queue = { waiting: [waiting], arrived: () => undefined };
        queues.set(mutation.account, fresh);
        running.set(
          mutation.account,
          runInBackground(() => drain(mutation.account, fresh)),
        );
      };
      const committed = traced('commit', { 'heddle.account': mutation.account }, () => new Promise<Committed>(join));
      return mutation.isRepeated === true ? unlessDone(options, mutation.account, requestId, committed) : committed;
    },
    mutateTogether(mutation) {
      const work = traced('commit', {}, () => mutateTogether(writer, mutation));
      shared.add(work);
      return work.finally(() => shared.delete(work));
    },
    async settle() {
      while (running.size + shared.size > 0) await Promise.allSettled([...running.values(), ...shared]);
    },
  };
}

/** What a repeated request comes to, unless an earlier attempt was carried out: then it is no refusal that nothing is left to do. */
async function unlessDone(
  { database }: CommitterOptions,
  account: string,
  requestId: string,
  committed: Promise<Committed>,
): Promise<Committed> {
  const [end] = await Promise.allSettled([committed]);
  const isWritten = end.status === 'fulfilled' && end.value.ok && end.value.revision !== undefined;
  if (!isWritten && (await findRequest(database, account, [requestId])) !== undefined)
    throw new Conflict('running', alreadyDone, { cause: end });
  return committed;
}

/** How far the queue of an account is. */
interface Step {
  /** What is written and not answered yet. */
  readonly written?: Planned | undefined;
  /** What was planned on that meanwhile. */
  readonly ahead?: Planned | undefined;
}

function isIdle(queue: Queue, { written, ahead }: Step): boolean {
  return queue.waiting.length === 0 && written === undefined && ahead === undefined;
}

/** An account with what waits to be written to it. */
interface Draining extends Writing {
  readonly queue: Queue;
}

/**
 * Writes what comes next while that which was written last is answered, and what arrives is planned: the database need not
 * wait for either. Never throws, because the queue goes on.
 */
async function drainStep(options: BatchWriter, draining: Draining, last: Step): Promise<Step> {
  const { queue, turn } = draining;
  const { written, ahead } = await inTurn(options, draining, last);
  const batch = ahead?.results.map(({ waiting }) => waiting) ?? queue.waiting.splice(0, batchSize);
  for (const { since } of batch) options.waited((performance.now() - since) / 1000);
  const meanwhile: { on?: Planned; next?: Promise<Planned | undefined> } = {};
  const committing = commitBatch(options, draining, batch, {
    ...(ahead === undefined ? {} : { planned: ahead }),
    isLast: () => queue.waiting.length === 0,
    started(planned, statement) {
      meanwhile.on = planned;
      meanwhile.next = planAhead(options, planned, queue, statement);
      guarded(options, 'what prepares for revisions failed', () => options.coming(planned.base, planned.tip));
    },
  });
  // The statement leaves first.
  if (written !== undefined && ahead !== undefined) await nextTurn();
  if (written !== undefined) finish(options, written);
  const done = await committing;
  const next = await meanwhile.next;
  const isOnDone = next === undefined || (done !== undefined && done === meanwhile.on);
  if (!isOnDone) putBack(queue, next);
  const isMore = next !== undefined || queue.waiting.length > 0;
  // The others need not wait until this server has answered.
  if (!isMore) void turn.end();
  else if (isOnDone && !(await turn.mayGoOn())) {
    putBack(queue, next);
    return { written: done };
  }
  return { written: done, ahead: isOnDone ? next : undefined };
}

/** What was planned on a state that is not the account's any more is planned again. */
function putBack(queue: Queue, planned: Planned | undefined): void {
  queue.waiting.unshift(...(planned?.results ?? []).map(({ waiting }) => waiting));
}

/** Waits for the turn, where others write to the account too; what was written before is answered first. */
async function inTurn(options: BatchWriter, { queue, turn }: Draining, step: Step): Promise<Step> {
  if (step.ahead !== undefined || queue.waiting.length === 0 || !turn.isAdvised()) return step;
  if (step.written !== undefined) finish(options, step.written);
  await turn.take();
  return {};
}

/** Writes a batch; returns the mutations of which nothing was written. Never throws. */
async function commitBatch(
  options: BatchWriter,
  writing: Writing,
  batch: readonly Waiting[],
  progress: BatchProgress = {},
): Promise<Planned | undefined> {
  if (batch.length === 0) return undefined;
  try {
    // The statement is part of the first one.
    return await runIn(batch[0]?.context ?? {}, () => writeBatch(options, writing, batch, progress));
  } catch (error) {
    if (batch.length === 1 || isAboutAll(error)) {
      for (const waiting of batch) waiting.reject(errorFor(waiting, error));
      return undefined;
    }
    if (!(error instanceof Conflict))
      options.defect('the database refused a batch, which is now written one by one', error);
    for (const waiting of batch) {
      const written = await commitBatch(options, writing, [waiting]);
      // What is written is written: nothing that fails from here on may plan it again.
      if (written !== undefined) finish(options, written);
    }
    return undefined;
  }
}

/** Those whose writes are in doubt look for them by their own requests. */
function errorFor({ requestId }: Waiting, error: unknown): unknown {
  return isInDoubt(error) ? new Unavailable(error.message, { cause: error, inDoubt: true, requestId }) : error;
}

/** Whether writing one by one would end the same way. */
function isAboutAll(error: unknown): boolean {
  return error instanceof Unavailable || (error instanceof Conflict && error.reason === 'locked');
}

/** Resolves all callers, then notifies the listeners of the revisions. */
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
    guarded(options, `what listens to revisions failed at revision ${revision}`, () =>
      options.committed({ account, revision, actor, plan, before, after }),
    );
  }
}

/** Calls listeners, whose errors do not affect what is written. */
function guarded({ defect }: CommitterOptions, failed: string, notify: () => void): void {
  try {
    notify();
  } catch (error) {
    defect(failed, error);
  }
}
