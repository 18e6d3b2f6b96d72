import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PlannedClaims } from '../db/commit/history.ts';
import { findRequest } from '../db/commit/idempotency.ts';
import type { KeptValues } from '../db/commit/kept-values.ts';
import type { SavedPlan } from '../db/config/plans.ts';
import type { AccountAccess, Database } from '../db/database.ts';
import type { Lease } from '../db/leases/leases.ts';
import type { PeerStatusUpdate } from '../db/peers/peer-status.ts';
import { alreadyDoneMessage } from '../db/repeated-requests.ts';
import type { Actor } from '../model/declare/actor.ts';
import type { AuditEvent } from '../model/declare/kind.ts';
import { Conflict, NotAllowed, NotFound, Unavailable } from '../model/errors.ts';
import type { Problem } from '../model/problem.ts';
import type { CommitInfo } from '../model/state/object.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import type { Plan, PlanOutcome } from '../plan/plan.ts';
import { currentContext, runInBackground, runInContext } from '../telemetry/context.ts';
import { traced } from '../telemetry/span.ts';
import {
  type AccountTurn,
  type BatchOptions,
  type BatchWriter,
  batchSize,
  type MutationQueue,
  type PlannedBatch,
  planAhead,
  TokenLookUpRequired,
  type WaitingMutation,
  writeBatch,
} from './batch.ts';
import { type CommittedTogether, mutateTogether, type SharedMutation } from './commit-together.ts';
import type { CachedToken, CommittedRevision } from './engine.ts';
import { isInDoubt } from './in-doubt.ts';
import type { NoticeBoard } from './notices.ts';
import type { ShownOnce } from './shown-once.ts';
import type { Snapshots } from './snapshots.ts';
import { createTurns, type TurnTimeouts } from './turns.ts';

/**
 * Plans the mutation on a snapshot. Called again with a newer snapshot when the account's revision changed before the
 * commit. Must read the account only through `database`: the head row may be locked during the call.
 */
export type Propose = (snapshot: Snapshot, database: AccountAccess) => PlanOutcome | Promise<PlanOutcome>;

export interface Mutation {
  readonly account: string;
  readonly actor: Actor;
  /** Revision that the caller has seen. */
  readonly revision: number;
  /** The caller may not write, so the mutation is refused. */
  readonly planOnly?: true;
  /** See `Call`. `mutate` throws `TokenLookUpRequired` unless a change is written. */
  readonly cachedToken?: CachedToken;
  readonly propose: Propose;
  readonly commitRef?: string;
  readonly commitInfo?: CommitInfo;
  readonly planId?: string;
  /** Returns the plan to store next to the revision. Returns `undefined` when the plan is not stored. */
  planToStore?(planned: Extract<Committed, { readonly ok: true }>): SavedPlan | undefined;
  /**
   * Lease without which nothing is written. `mutate` throws `LeaseLost` when it is not held at the moment of the
   * commit.
   */
  readonly lease?: Lease;
  /** Digest of the approved plan, which may pass its guards. */
  readonly approvedDigest?: string;
  /** Returns the id of the request, by which a repetition is recognised. Absent: the mutation gets a new id. */
  requestId?(): string;
  /** See `Call`. */
  readonly isRepeated?: true;
  /** See `Call`. */
  sealOnce?(values: ShownOnce): KeptValues;
  /** Returns observations about the peers of the plan, to store with it. */
  peerUpdates?(): readonly PeerStatusUpdate[];
  /**
   * Returns the claims of sources after the plan, and the number of the claims with which it was made. When the stored
   * claims have another number, the mutation is planned again.
   */
  plannedClaims?(plan: Plan): PlannedClaims | undefined;
  /** Returns audit events to record in addition to the events of the changes. */
  extraEvents?(plan: Plan): readonly AuditEvent[];
}

/** Result of a mutation. `revision` is absent when the plan was empty. */
export type Committed =
  | {
      readonly ok: true;
      readonly plan: Plan;
      readonly revision?: number;
      readonly before: Snapshot;
      readonly after: Snapshot;
    }
  | { readonly ok: false; readonly problems: readonly Problem[]; readonly state: Snapshot };

/** The only component that changes accounts. */
export interface Committer {
  mutate(mutation: Mutation): Promise<Committed>;
  /** Changes several accounts at once, or none of them. */
  mutateTogether(mutation: SharedMutation): Promise<CommittedTogether>;
  /** Waits until no mutation is running or waiting. */
  settle(): Promise<void>;
}

export interface CommitterOptions {
  readonly database: Database;
  readonly snapshots: Snapshots;
  readonly notices: NoticeBoard;
  /** Absent: the default times. */
  readonly turnTimeouts?: TurnTimeouts | undefined;
  now(): string;
  newRequestId(): string;
  /** Whether this server's own identity provider also deletes deleted users. */
  readonly deletesIdpUsers: boolean;
  /** Called with the time that a mutation waited for other mutations of its account, in seconds. */
  onWaited(seconds: number): void;
  /** Called with the state that follows if the statement that was just sent is written, which is not certain. */
  onSent(base: Snapshot, next: Snapshot): void;
  /** Called with every revision after it is committed. */
  onCommitted(revision: CommittedRevision): void;
  /** Called with a defect that does not stop the queue: Postgres refused a batch, or a listener failed. */
  onDefect(what: string, error: unknown): void;
}

/** Message for a caller that may plan and not write. */
export const planOnlyRefusal = 'the token may only read and plan; use another token to write';

/**
 * Creates the committer. Waiting mutations of one account are planned one on top of the other, and written in one
 * statement.
 */
export function createCommitter(options: CommitterOptions): Committer {
  const { database, notices, turnTimeouts } = options;
  const writer = { ...options, turns: createTurns(database, notices, options.newRequestId(), turnTimeouts) };
  const queues = new Map<string, MutationQueue>();
  const running = new Map<string, Promise<void>>();
  const shared = new Set<Promise<unknown>>();

  const drain = async (account: string, queue: MutationQueue): Promise<void> => {
    // Mutations that arrive in the same turn of the event loop join the batch. Otherwise the first would be written
    // alone, and all others would wait for it.
    await nextTurn();
    const writing = { account, queue, turn: writer.turns.open(account) };
    let last: DrainState = {};
    do {
      last = await drainStep(writer, writing, last);
      // Gives up the turn, so that other servers write before mutations that arrive later.
      if (isIdle(queue, last)) await writing.turn.leave();
    } while (!isIdle(queue, last));
    queues.delete(account);
    running.delete(account);
  };

  return {
    mutate(mutation) {
      if (mutation.planOnly === true) return Promise.reject(new NotAllowed(planOnlyRefusal));
      const requestId = mutation.requestId?.() ?? options.newRequestId();
      const join = (resolve: WaitingMutation['resolve'], reject: WaitingMutation['reject']): void => {
        const queue = queues.get(mutation.account);
        const context = currentContext();
        const waiting = { mutation, requestId, context, arrivedAt: performance.now(), resolve, reject };
        if (queue !== undefined) {
          queue.waiting.push(waiting);
          queue.onArrival();
          return;
        }
        const fresh: MutationQueue = { waiting: [waiting], onArrival: () => undefined };
        queues.set(mutation.account, fresh);
        running.set(
          mutation.account,
          runInBackground(() => drain(mutation.account, fresh)),
        );
      };
      const committed = traced('commit', { 'heddle.account': mutation.account }, () => new Promise<Committed>(join));
      return mutation.isRepeated === true
        ? unlessAlreadyDone(options, mutation.account, requestId, committed)
        : committed;
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

/**
 * Returns the result of a repeated request. When nothing was written because an earlier attempt was carried out, throws
 * `Conflict` (`running`) instead of returning a refusal.
 */
async function unlessAlreadyDone(
  { database }: CommitterOptions,
  account: string,
  requestId: string,
  committed: Promise<Committed>,
): Promise<Committed> {
  const [end] = await Promise.allSettled([committed]);
  const isWritten = end.status === 'fulfilled' && end.value.ok && end.value.revision !== undefined;
  if (!isWritten && (await findRequest(database, account, [requestId])) !== undefined)
    throw new Conflict('running', alreadyDoneMessage, { cause: end });
  return committed;
}

/** Progress of an account's queue. */
interface DrainState {
  /** Batch that is written, and whose callers are not answered yet. */
  readonly written?: PlannedBatch | undefined;
  /** Batch that was planned on `written` while that was being written. */
  readonly ahead?: PlannedBatch | undefined;
}

function isIdle(queue: MutationQueue, { written, ahead }: DrainState): boolean {
  return queue.waiting.length === 0 && written === undefined && ahead === undefined;
}

/** An account with its queue of mutations. */
interface Draining extends AccountTurn {
  readonly queue: MutationQueue;
}

/**
 * Writes the next batch while the callers of the last batch are answered and new mutations are planned, so that the
 * database waits for neither. Never throws, because the queue must continue.
 */
async function drainStep(options: BatchWriter, draining: Draining, last: DrainState): Promise<DrainState> {
  const { queue, turn } = draining;
  const { written, ahead } = await waitForTurn(options, draining, last);
  const batch = ahead?.results.map(({ waiting }) => waiting) ?? queue.waiting.splice(0, batchSize);
  for (const { arrivedAt } of batch) options.onWaited((performance.now() - arrivedAt) / 1000);
  const meanwhile: { on?: PlannedBatch; next?: Promise<PlannedBatch | undefined> } = {};
  const committing = commitBatch(options, draining, batch, {
    ...(ahead === undefined ? {} : { planned: ahead }),
    isLast: () => queue.waiting.length === 0,
    onSent(planned, statement) {
      meanwhile.on = planned;
      meanwhile.next = planAhead(options, planned, queue, statement);
      callGuarded(options, 'the preparation for a revision failed', () => options.onSent(planned.base, planned.tip));
    },
  });
  // Lets the statement be sent first.
  if (written !== undefined && ahead !== undefined) await nextTurn();
  if (written !== undefined) answerCallers(options, written);
  const done = await committing;
  const next = await meanwhile.next;
  const isOnDone = next === undefined || (done !== undefined && done === meanwhile.on);
  if (!isOnDone) requeue(queue, next);
  const isMore = next !== undefined || queue.waiting.length > 0;
  // Other servers need not wait until this server has answered its callers.
  if (!isMore) void turn.leave();
  else if (isOnDone && !(await turn.mayContinue())) {
    requeue(queue, next);
    return { written: done };
  }
  return { written: done, ahead: isOnDone ? next : undefined };
}

/**
 * Returns mutations to the queue that were planned on a state which the account does not have, so that they are planned
 * again.
 */
function requeue(queue: MutationQueue, planned: PlannedBatch | undefined): void {
  queue.waiting.unshift(...(planned?.results ?? []).map(({ waiting }) => waiting));
}

/** Waits for the turn when other servers write to the account too. Answers the callers of the last batch first. */
async function waitForTurn(options: BatchWriter, { queue, turn }: Draining, step: DrainState): Promise<DrainState> {
  if (step.ahead !== undefined || queue.waiting.length === 0 || !turn.isContended()) return step;
  if (step.written !== undefined) answerCallers(options, step.written);
  await turn.take();
  return {};
}

/**
 * Writes a batch. Returns the batch when its callers must still be answered (`answerCallers`), and `undefined` when
 * they have been answered. Never throws.
 */
async function commitBatch(
  options: BatchWriter,
  writing: AccountTurn,
  batch: readonly WaitingMutation[],
  progress: BatchOptions = {},
): Promise<PlannedBatch | undefined> {
  if (batch.length === 0) return undefined;
  try {
    // The statement is traced in the context of the first mutation.
    return await runInContext(batch[0]?.context ?? {}, () => writeBatch(options, writing, batch, progress));
  } catch (error) {
    if (batch.length === 1 || isSameForEach(error)) {
      for (const waiting of batch) waiting.reject(errorFor(waiting, error));
      return undefined;
    }
    if (!(error instanceof Conflict))
      options.onDefect('the database refused a batch, which is now written one by one', error);
    for (const waiting of batch) {
      const written = await commitBatch(options, writing, [waiting]);
      // The batch is written, so its callers are answered now: no later error may plan it again.
      if (written !== undefined) answerCallers(options, written);
    }
    return undefined;
  }
}

/**
 * Returns the error for one caller. When the outcome of the write is in doubt, the error contains the request id with
 * which the caller can find it.
 */
function errorFor({ requestId, mutation }: WaitingMutation, error: unknown): unknown {
  // The account was deleted. The token may be a token of another account by now.
  if (error instanceof NotFound && mutation.cachedToken !== undefined) return new TokenLookUpRequired();
  return isInDoubt(error) ? new Unavailable(error.message, { cause: error, inDoubt: true, requestId }) : error;
}

/** Returns whether writing the mutations one by one would fail in the same way. */
function isSameForEach(error: unknown): boolean {
  return (
    error instanceof Unavailable ||
    error instanceof NotFound ||
    (error instanceof Conflict && error.reason === 'locked')
  );
}

/** Answers all callers, and notifies the listeners of each revision. */
function answerCallers(options: CommitterOptions, planned: PlannedBatch): void {
  for (const { waiting, result } of planned.results) {
    if ('error' in result) {
      waiting.reject(result.error);
      continue;
    }
    waiting.resolve(result);
    if (!result.ok || result.revision === undefined) continue;
    const { account, actor } = waiting.mutation;
    const { revision, plan, before, after } = result;
    callGuarded(options, `a listener failed at revision ${revision}`, () =>
      options.onCommitted({ account, revision, actor, plan, before, after }),
    );
  }
}

/** Calls listeners. Their errors are reported as defects and do not affect the written revision. */
function callGuarded({ onDefect }: CommitterOptions, failed: string, notify: () => void): void {
  try {
    notify();
  } catch (error) {
    onDefect(failed, error);
  }
}
