import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type CommitInput,
  type CommitResult,
  type CompiledCommit,
  commit,
  compileCommit,
} from '../db/commit/commit.ts';
import { lostTokenName } from '../db/commit/commit-statement.ts';
import type { RevisionInput } from '../db/commit/history.ts';
import type { KeptValues } from '../db/commit/kept-values.ts';
import { readCommitOutcome } from '../db/commit/revisions.ts';
import type { AccountAccess } from '../db/database.ts';
import type { Lease } from '../db/leases/leases.ts';
import { Conflict, type HeddleError, Internal, Unavailable } from '../model/errors.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import { isEmptyPlan, type Plan } from '../plan/plan.ts';
import { auditEventsInSteps, driftEventsInSteps } from '../plan/view/events.ts';
import { type Context, runInContext } from '../telemetry/context.ts';
import { traced } from '../telemetry/span.ts';
import type { Committed, CommitterOptions, Mutation } from './commit.ts';
import { identifyCommit, isInDoubt, maxAttempts, settleCommit } from './in-doubt.ts';
import { objectOutputs } from './shown-once.ts';
import { runNowOrInSlices } from './slices.ts';
import type { Turn, Turns } from './turns.ts';

/** A mutation and the caller that waits for its result. */
export interface WaitingMutation {
  readonly mutation: Mutation;
  /** Time of arrival, by the clock of the process, in milliseconds. */
  readonly arrivedAt: number;
  readonly requestId: string;
  /** Telemetry context of the mutation. */
  readonly context: Context;
  resolve(committed: Committed): void;
  reject(error: unknown): void;
}

/** Thrown when the lease of a mutation is lost: another server may run the loop by now, so nothing was written. */
export class LeaseLost extends Conflict {
  constructor({ name }: Lease) {
    super(
      'stale',
      `the lease ${name} is no longer held: it expired, or another server has taken it over; this server changed nothing`,
    );
  }
}

/**
 * Thrown when nothing was written for a caller whose token was not looked up. What was planned must not be answered,
 * because the token may be invalid and the state outdated. The caller looks the token up and repeats the mutation.
 */
export class TokenLookUpRequired extends Internal {
  constructor() {
    super('the token must be looked up before this is answered; nothing was changed');
  }
}

/** A batch of mutations planned on one snapshot, each on the state after the previous one. */
export interface PlannedBatch {
  readonly base: Snapshot;
  readonly tip: Snapshot;
  readonly revisions: readonly RevisionInput[];
  readonly results: readonly {
    readonly waiting: WaitingMutation;
    readonly result: Proposed;
  }[];
}

/**
 * Plans each mutation on the state after the previous one. `lost` are the names of leases and tokens that are known to
 * be lost.
 */
async function planBatch(
  options: CommitterOptions,
  base: Snapshot,
  batch: readonly WaitingMutation[],
  lost: ReadonlySet<string>,
): Promise<PlannedBatch> {
  let tip = base;
  const revisions: RevisionInput[] = [];
  const results: PlannedBatch['results'][number][] = [];
  const at = options.now();
  for (const waiting of batch) {
    const { mutation, requestId, context } = waiting;
    const { actor, commitRef, commitInfo, planId, approvedDigest, lease, cachedToken: token } = mutation;
    const loss = lossOf(mutation, lost);
    const result =
      loss === undefined
        ? await runInContext(context, () => traced('plan', {}, () => proposeOn(tip, mutation, options.database)))
        : { error: loss };
    results.push({ waiting, result });
    if ('error' in result || !result.ok || result.revision === undefined) continue;
    const { plan, before, after } = result;
    const events = [
      ...(await runNowOrInSlices(auditEventsInSteps(plan, before, after))),
      ...(await runNowOrInSlices(driftEventsInSteps(plan, before, after, at))),
    ];
    revisions.push({
      revision: result.revision,
      plan: result.plan,
      actor,
      requestId,
      httpRequest: context.requestId,
      commitRef,
      commitInfo,
      planId,
      approved: approvedDigest,
      planToStore: mutation.planToStore?.(result),
      lease,
      token: token && { id: token.id, hash: token.hash },
      once: sealOutputs(mutation, result.plan),
      deletesIdpUsers: options.deletesIdpUsers,
      claims: mutation.plannedClaims?.(result.plan),
      statuses: mutation.peerUpdates?.() ?? [],
      at,
      events: [...events, ...(mutation.extraEvents?.(result.plan) ?? [])],
    });
    tip = result.after;
  }
  return { base, tip, revisions, results };
}

/** Returns the error for a mutation whose lease or token is lost. */
function lossOf({ lease, cachedToken }: Mutation, lost: ReadonlySet<string>): HeddleError | undefined {
  if (lease !== undefined && lost.has(lease.name)) return new LeaseLost(lease);
  return cachedToken !== undefined && lost.has(lostTokenName(cachedToken)) ? new TokenLookUpRequired() : undefined;
}

/** Seals the values that the answer to a request shows once, when the request may have to be answered again. */
function sealOutputs({ sealOnce }: Mutation, plan: Plan): KeptValues | undefined {
  return plan.outputs.size === 0 ? undefined : sealOnce?.({ outputs: objectOutputs(plan) });
}

type Proposed = Committed | { readonly error: unknown };

async function proposeOn(tip: Snapshot, mutation: Mutation, database: AccountAccess): Promise<Proposed> {
  const proposed = await proposeFor(tip, mutation, database);
  const isWritten = 'ok' in proposed && proposed.ok && proposed.revision !== undefined;
  return isWritten || mutation.cachedToken === undefined ? proposed : { error: new TokenLookUpRequired() };
}

async function proposeFor(tip: Snapshot, mutation: Mutation, database: AccountAccess): Promise<Proposed> {
  try {
    mutation.cachedToken?.requireAllowed(tip);
    const outcome = await mutation.propose(tip, database);
    if (!outcome.ok) return { ok: false, problems: outcome.problems, state: tip };
    if (isEmptyPlan(outcome.plan)) return { ok: true, plan: outcome.plan, before: tip, after: tip };
    return { ok: true, plan: outcome.plan, revision: outcome.next.revision, before: tip, after: outcome.next };
  } catch (error) {
    return { error };
  }
}

/** Options for writing a batch. */
export interface BatchOptions {
  /** The batch, when it is already planned on the batch that was written last. */
  readonly planned?: PlannedBatch;
  /** Returns whether no other mutation waits, as far as is known. */
  isLast?(): boolean;
  /** Called when the statement of the first attempt has been sent. */
  onSent?(planned: PlannedBatch, statement: Promise<unknown>): void;
}

/** Dependencies for writing batches. */
export type BatchWriter = CommitterOptions & { readonly turns: Turns };

/** Number of lost races after which a batch is planned only during its turn. */
export const racesBeforeTurn = 2;

/** An account, and this server's place in the line of its writers. */
export interface AccountTurn {
  readonly account: string;
  readonly turn: Turn;
}

/**
 * Plans a batch, unless it is planned already, and writes it. Plans again when the account's revision changed before
 * the commit. The account is never locked during planning: the commit checks that the account is still at the revision
 * of the plan.
 */
export async function writeBatch(
  writer: BatchWriter,
  writing: AccountTurn,
  batch: readonly WaitingMutation[],
  progress: BatchOptions,
): Promise<PlannedBatch> {
  const planned = await retryUntilWritten(writer, writing, batch, progress);
  if (planned === undefined)
    throw new Unavailable(`the account changed ${maxAttempts} times while this was planned; try again`);
  return planned;
}

/** Plans and writes a batch. Returns `undefined` when other writers were faster each time. */
async function retryUntilWritten(
  writer: BatchWriter,
  { account, turn }: AccountTurn,
  batch: readonly WaitingMutation[],
  { planned: made, onSent, isLast }: BatchOptions,
): Promise<PlannedBatch | undefined> {
  const { snapshots } = writer;
  const lost = new Set<string>();
  const seen = Math.max(turn.revision, ...batch.map(({ mutation }) => mutation.revision));
  // The first attempt is planned on the cached snapshot. An attempt after a lost race is planned on the newest state.
  let readBase = () => (onSent === undefined ? snapshots.fresh(account) : snapshots.atLeast(account, seen));
  for (let races = 0, first = true; races < maxAttempts; first = false) {
    if (races >= racesBeforeTurn) await turn.take();
    const planned = first && made !== undefined ? made : await planBatch(writer, await readBase(), batch, lost);
    if (planned.revisions.length === 0) return planned;
    const statement = write(writer, turn, planned, { isFirst: first, isLast });
    if (first) onSent?.(planned, statement);
    const result = await statement;
    if (result === 'written') return planned;
    if (result === 'moved' || result === 'turn') {
      turn.recordMeeting();
      races += 1;
    } else for (const name of result.lost) lost.add(name);
    // A place that is not taken again is not prolonged during the next plan, and its turn does not end after its slice.
    if (result === 'turn' || turn.isInLine) await turn.take();
    readBase = () => snapshots.fresh(account);
  }
  return undefined;
}

/**
 * Writes the batch and caches its state. A short statement has been sent when this function returns its promise. A long
 * one is compiled in slices, and only this account waits for it.
 */
async function write(
  writer: BatchWriter,
  turn: Turn,
  planned: PlannedBatch,
  { isFirst, isLast = () => false }: { readonly isFirst: boolean; readonly isLast: BatchOptions['isLast'] | undefined },
): Promise<CommitResult> {
  const { base, tip: next, revisions } = planned;
  const input = { base, next, revisions };
  const made = runNowOrInSlices(compileCommit(input, turn.contender, isFirst));
  const compiled = made instanceof Promise ? await made : made;
  const writing = sendCommit(writer, turn, input, compiled, isLast).then((result) => {
    if (result === 'written') writer.snapshots.advance(next);
    return result;
  });
  writer.snapshots.expect(next, writing);
  return await writing;
}

/**
 * Sends a compiled commit. When the connection breaks, finds out whether it was written before any caller is answered.
 */
async function sendCommit(
  { database }: BatchWriter,
  turn: Turn,
  input: CommitInput,
  compiled: CompiledCommit,
  isLast: () => boolean,
): Promise<CommitResult> {
  try {
    const last = input.revisions.at(-1);
    const leaving = last !== undefined && isLast() ? turn.leaveStatements(last.requestId) : [];
    const result = await commit(database, compiled, leaving);
    if (leaving.length > 0 && result === 'written') turn.recordLeft();
    return result;
  } catch (error) {
    if (!isInDoubt(error)) throw error;
    const mark = identifyCommit(input);
    // Compiled without a contender: the first statement was sent before the turn that another server may have by now.
    const again = async () => commit(database, await runNowOrInSlices(compileCommit(input)));
    return await settleCommit(async () => [await readCommitOutcome(database, mark)], { ...mark, cause: error }, again);
  }
}

/** The mutations of an account that wait to be planned. */
export interface MutationQueue {
  readonly waiting: WaitingMutation[];
  /** Called when a mutation joins the queue. */
  onArrival(): void;
}

/** Maximum number of mutations in one statement. */
export const batchSize = 256;

/**
 * Plans mutations that arrive while a statement is running, on the state after that statement, so that neither waits
 * for the other. The result may be used only when `before` was written. Returns `undefined` when no mutation arrived.
 */
export async function planAhead(
  options: CommitterOptions,
  before: PlannedBatch,
  queue: MutationQueue,
  writing: Promise<unknown>,
): Promise<PlannedBatch | undefined> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  const end = writing.then(over, over);
  let ahead: PlannedBatch | undefined;
  for (;;) {
    await Promise.race([end, waitForArrival(queue)]);
    // Mutations that arrive in the same turn of the event loop are planned together.
    if (!isOver) await nextTurn();
    if (isOver) return ahead;
    const more = takePlannable(queue, before.tip.revision, batchSize - (ahead?.results.length ?? 0));
    const planned = more.length === 0 ? undefined : await tryPlan(options, ahead?.tip ?? before.tip, more);
    if (planned === undefined) {
      queue.waiting.unshift(...more);
      await end;
      return ahead;
    }
    ahead = ahead === undefined ? planned : joinBatches(ahead, planned);
  }
}

function waitForArrival(queue: MutationQueue): Promise<void> | undefined {
  if (queue.waiting.length > 0) return undefined;
  return new Promise((resolve) => {
    queue.onArrival = resolve;
  });
}

/**
 * Takes mutations from the front of the queue, up to the first whose caller has seen a later revision than the state
 * will have.
 */
function takePlannable({ waiting }: MutationQueue, revision: number, most: number): WaitingMutation[] {
  const end = waiting.findIndex(({ mutation }) => mutation.revision > revision);
  return waiting.splice(0, Math.min(most, end < 0 ? waiting.length : end));
}

/**
 * Plans a batch ahead of its turn. When planning fails, the mutations are planned again in their turn, and fail then.
 */
async function tryPlan(options: CommitterOptions, tip: PlannedBatch['tip'], batch: readonly WaitingMutation[]) {
  return planBatch(options, tip, batch, new Set()).catch(() => undefined);
}

function joinBatches(first: PlannedBatch, second: PlannedBatch): PlannedBatch {
  return {
    base: first.base,
    tip: second.tip,
    revisions: [...first.revisions, ...second.revisions],
    results: [...first.results, ...second.results],
  };
}
