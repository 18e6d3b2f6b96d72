import type { Mutation, Propose } from '../../../commit/commit.ts';
import type { Call, Engine } from '../../../commit/engine.ts';
import type { PlannedClaims } from '../../../db/commit/history.ts';
import type { SavedPlan } from '../../../db/config/plans.ts';
import type { AccountAccess } from '../../../db/database.ts';
import type { AuditEvent } from '../../../model/declare/kind.ts';
import type { Problem } from '../../../model/problem.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import {
  claimsAfter,
  noClaims,
  type PendingClaims,
  planWithClaims,
  readClaims,
  storeClaims,
  type UnmetClaims,
} from '../../../objects/pending-claims.ts';
import { newlyStatedKeys, postponedIn } from '../../../plan/ownership/claims-of-others.ts';
import { overriddenObjects } from '../../../plan/ownership/running-overrides.ts';
import { isEmptyPlan, type Plan, type PlanOutcome } from '../../../plan/plan.ts';
import { traced } from '../../../telemetry/span.ts';
import { runAfterCommit } from './after-commit.ts';
import type { ApplyRequest } from './apply-request.ts';
import { draftPlan, type PlanContext } from './draft-documents.ts';
import { locateOutcome, locateProblems, locateWarnings } from './locate-problems.ts';
import { storeMovedPositions } from './moved-documents.ts';
import { keepOutputs } from './outputs.ts';
import { reviewAccess } from './review-access.ts';
import { endRollbackMark, isInEffect } from './rolled-back.ts';
import { refuseByHand, refuseSuspended } from './suspended.ts';

/** Result of applying documents. Nothing is written unless the state is `applied`. */
export type ApplyResult =
  | {
      readonly state: 'applied';
      readonly plan: Plan;
      readonly revision?: number;
      readonly before: Snapshot;
      readonly after: Snapshot;
      /** Id of the plan that keeps the values to be read once. */
      readonly kept?: string;
    }
  | { readonly state: 'needs_approval'; readonly plan: Plan; readonly before: Snapshot; readonly after: Snapshot }
  | { readonly state: 'stale'; readonly plan: Plan; readonly before: Snapshot; readonly after: Snapshot }
  | { readonly state: 'invalid'; readonly problems: readonly Problem[] };

/**
 * Plans an apply request on the revision that the caller has seen, or on a later one. Writes nothing. `show` selects the
 * problems or warnings before their list is cut: what the caller may not see must not take the place of other ones.
 */
export async function planApply(
  engine: Engine,
  call: Call,
  request: ApplyRequest,
  show: (before: Snapshot, found: readonly Problem[]) => readonly Problem[] = (_, found) => found,
): Promise<{ readonly outcome: PlanOutcome; readonly before: Snapshot }> {
  const { before, context } = await readContext(engine, call, request);
  const outcome = await traced('plan', {}, () => planAndReview(engine, call, before, request, context));
  const shown = outcome.ok
    ? { ...outcome, plan: { ...outcome.plan, warnings: show(before, outcome.plan.warnings) } }
    : { ...outcome, problems: show(before, outcome.problems) };
  return { outcome: await locateOutcome(request, shown), before };
}

/** Plans as `planApply` does, but without the review of who gains and loses access and without access tests. */
export async function planWithoutReview(
  engine: Engine,
  call: Call,
  request: ApplyRequest,
): Promise<{ readonly outcome: PlanOutcome; readonly before: Snapshot }> {
  const { before, context } = await readContext(engine, call, request);
  return { outcome: await locateOutcome(request, await draftPlan(engine, call, before, request, context)), before };
}

/**
 * Returns the state to roll back to. It is read once before planning: while a plan holds the account, the database has
 * no connection to spare.
 */
async function readRollbackState(
  engine: Engine,
  { account }: Call,
  { rollback, archived }: ApplyRequest,
): Promise<Snapshot | undefined> {
  if (rollback === undefined) return undefined;
  return archived ?? (await engine.pastStates.at(account, rollback.revision));
}

/** Returns the state and the context of a plan that is only shown. */
async function readContext(
  engine: Engine,
  call: Call,
  request: ApplyRequest,
): Promise<{ readonly before: Snapshot; readonly context: PlanContext }> {
  const { database } = engine;
  const before = await engine.snapshots.atLeast(call.account, call.revision);
  const past = await readRollbackState(engine, call, request);
  const claims = request.rollback === undefined ? await readClaims(database, call.account) : noClaims;
  return { before, context: await contextOf(engine, database, { before, past, claims }) };
}

async function contextOf(
  engine: Engine,
  database: AccountAccess,
  { before, past, claims }: Pick<PlanContext, 'claims'> & { before: Snapshot; past: Snapshot | undefined },
): Promise<PlanContext> {
  const states = past === undefined ? [before] : [before, past];
  const isTimed = states.some((state) => overriddenObjects(state).length > 0);
  const now = isTimed ? await engine.databaseTime(database, before.account) : engine.now();
  return { now, database, claims, ...(past === undefined ? {} : { past }) };
}

async function planAndReview(
  engine: Engine,
  call: Call,
  before: Snapshot,
  request: ApplyRequest,
  context: PlanContext,
): Promise<PlanOutcome> {
  const outcome = await draftPlan(engine, call, before, request, context);
  // The guards check both the caller and the plan's author, so a caller who applies another user's plan is bound by its
  // guards.
  const actors = [call.actor, ...(request.plannedBy === undefined ? [] : [request.plannedBy])];
  return await reviewAccess(engine, { before, source: request.source, actors }, outcome);
}

/**
 * Plans and commits what a source states, as one revision or not at all. Before anything is deleted, the other sources
 * are asked to record their claims, so that an object that moves from one source to another is not deleted.
 */
export async function applyDocuments(engine: Engine, call: Call, request: ApplyRequest): Promise<ApplyResult> {
  const result = await applyWithFreshClaims(engine, call, request);
  if (isInEffect(request, result)) await endRollbackMark(engine, call, request.source, result.before);
  return result;
}

async function applyWithFreshClaims(engine: Engine, call: Call, request: ApplyRequest): Promise<ApplyResult> {
  const { account } = call;
  const claimRefreshers = [...engine.claimRefreshers].filter((refresher) =>
    refresher.isConcerned(account, request.source),
  );
  if (claimRefreshers.length > 0 && request.rollback === undefined) {
    const result = await applyAndStoreClaims(engine, call, request, (plan) => plan.counts.delete > 0);
    if (result !== 'stopped') return result;
    for (const refresher of claimRefreshers) await refresher.refresh(account, request.source);
  }
  const result = await applyAndStoreClaims(engine, call, request, () => false);
  if (result === 'stopped') throw new Error('the plan was stopped although no stop was requested');
  return result;
}

/** Applies the request unless `isStop` matches its plan, and records the claims that the source could not get. */
async function applyAndStoreClaims(
  engine: Engine,
  call: Call,
  request: ApplyRequest,
  isStop: (plan: Plan) => boolean,
): Promise<ApplyResult | 'stopped'> {
  const past = await readRollbackState(engine, call, request);
  const { result, unmetClaims } = await planAndCommit(engine, call, request, past, isStop);
  if (result !== 'stopped' && unmetClaims !== undefined && request.rollback === undefined)
    await storeClaims(engine, call.account, request.source, unmetClaims);
  return result;
}

/**
 * Result of an attempt, and the claims that the source could not get. `unmetClaims` is `undefined` when they are
 * unknown, or were written with the commit.
 */
interface ApplyAttempt {
  readonly result: ApplyResult | 'stopped';
  readonly unmetClaims: UnmetClaims | undefined;
}

/** A plan to apply, the claims with which it was planned, and the reason why it may not be applied, if any. */
interface PlannedApply {
  readonly outcome: PlanOutcome;
  readonly knownClaims: PendingClaims;
  readonly halt: ApplyResult | 'stopped' | undefined;
}

async function planToApply(
  engine: Engine,
  call: Call,
  request: ApplyRequest,
  { before, database, past }: { before: Snapshot; database: AccountAccess; past: Snapshot | undefined },
  isStop: (plan: Plan) => boolean,
): Promise<PlannedApply> {
  const plan = async (known: PendingClaims): Promise<PlannedApply> => {
    const context = await contextOf(engine, database, { before, past, claims: known });
    const outcome = await planAndReview(engine, call, before, request, context);
    return {
      outcome,
      knownClaims: known,
      halt: outcome.ok ? haltReasonOf(outcome, request, before, isStop) : undefined,
    };
  };
  if (request.rollback !== undefined) return plan(noClaims);
  const isCommitted = ({ outcome, halt }: PlannedApply) =>
    outcome.ok && halt === undefined && !isEmptyPlan(outcome.plan);
  return planWithClaims(database, before, plan, isCommitted);
}

async function planAndCommit(
  engine: Engine,
  call: Call,
  request: ApplyRequest,
  past: Snapshot | undefined,
  isStop: (plan: Plan) => boolean,
): Promise<ApplyAttempt> {
  let halted: ApplyResult | 'stopped' | undefined;
  let unmetClaims: UnmetClaims | undefined;
  let claims: PlannedClaims | undefined;
  let kept: SavedPlan | undefined;
  const lapse = request.lease === undefined ? engine.claimLapseSeconds : undefined;
  const propose: Propose = async (before, database) => {
    [claims, kept] = [undefined, undefined];
    if (request.isManualApply === true) {
      refuseSuspended(before, request.source);
      refuseByHand(before, request.source, request.override);
    }
    const { outcome, knownClaims, halt } = await planToApply(engine, call, request, { before, database, past }, isStop);
    halted = halt;
    const lacks = outcome.ok ? { keys: newlyStatedKeys(outcome.plan), units: [] } : outcome.claimed;
    unmetClaims = lacks === undefined ? undefined : { revision: before.revision, lacks, lapse };
    if (!outcome.ok) return outcome;
    if (typeof halt === 'object' && halt.state === 'needs_approval')
      for (const { guard } of outcome.plan.guards) engine.observer.report({ what: 'guard', guard });
    // A plan that may not be applied proposes an empty plan.
    if (halt !== undefined) return { ok: true, plan: withoutChanges(outcome.plan), next: before };
    if (request.rollback !== undefined) return outcome;
    claims = {
      claimSequence: knownClaims.sequence,
      updates: claimsAfter(engine.registry, outcome.plan, knownClaims, engine.now()),
    };
    // The commit writes claims, so the new state must not remember that there are none.
    return claims.updates.length === 0 ? outcome : { ...outcome, next: outcome.next.withNoClaimsSequence(undefined) };
  };
  const { commitRef, commitInfo, planId, lease, approve } = request;
  const keep: Mutation['planToStore'] = (planned) => {
    kept = keepOutputs(engine, call, request.source, planned);
    return kept;
  };
  const committed = await engine.committer.mutate({
    ...call,
    propose,
    // A rollback has its own event.
    extraEvents: (plan) => (plan.rollback === undefined ? [appliedEvent(plan, request)] : []),
    ...(approve === undefined ? {} : { approvedDigest: approve }),
    ...(commitRef === undefined ? {} : { commitRef }),
    ...(commitInfo === undefined ? {} : { commitInfo }),
    ...(planId === undefined ? {} : { planId }),
    ...(lease === undefined ? {} : { lease }),
    ...(request.keepOutputs === true ? { planToStore: keep } : {}),
    plannedClaims: () => claims,
  });
  if (!committed.ok)
    return { result: { state: 'invalid', problems: await locateProblems(request, committed.problems) }, unmetClaims };
  if (halted !== undefined) return { result: await locateHaltedWarnings(request, halted), unmetClaims };
  const { revision, before, after } = committed;
  let { plan } = committed;
  const locate = async () => {
    plan = await locateWarnings(request, plan);
  };
  if (revision === undefined) await locate();
  else await runAfterCommit(engine, `locating the warnings of source ${request.source}`, locate);
  const move = () => storeMovedPositions(engine, call.account, request.source, plan.moves, after);
  if (revision === undefined) await move();
  else await runAfterCommit(engine, `updating the document lines of source ${request.source}`, move);
  const applied: ApplyResult = {
    ...{ state: 'applied', plan, before, after },
    ...(revision === undefined ? {} : { revision }),
    ...(kept === undefined ? {} : { kept: kept.id }),
  };
  const settled = { revision: before.revision, lacks: { keys: [], units: [], ...postponedIn(committed.plan) } };
  return { result: applied, unmetClaims: revision === undefined ? settled : undefined };
}

/** Returns the audit event of a source whose documents became a revision. */
function appliedEvent(
  { source = '', digest, counts }: Plan,
  { planId, commitRef, override }: ApplyRequest,
): AuditEvent {
  const { create, update, delete: gone } = counts;
  return {
    code: 'config.applied',
    ...(planId === undefined ? {} : { target: planId }),
    meta: {
      ...{ source, digest, created: String(create), updated: String(update), deleted: String(gone) },
      ...(planId === undefined ? {} : { plan: planId }),
      ...(commitRef === undefined ? {} : { commit: commitRef }),
      ...(override === undefined ? {} : { override }),
    },
  };
}

function haltReasonOf(
  { plan, next: after }: Extract<PlanOutcome, { readonly ok: true }>,
  request: ApplyRequest,
  before: Snapshot,
  isStop: (plan: Plan) => boolean,
): ApplyResult | 'stopped' | undefined {
  if (isStop(plan)) return 'stopped';
  const { expectDigest = plan.digest, expectBase = before.revision } = request;
  if (expectDigest !== plan.digest || expectBase !== before.revision) return { state: 'stale', plan, before, after };
  if (plan.guards.length > 0 && request.approve !== plan.digest)
    return { state: 'needs_approval', plan, before, after };
  return undefined;
}

async function locateHaltedWarnings(
  request: ApplyRequest,
  halted: ApplyResult | 'stopped',
): Promise<ApplyResult | 'stopped'> {
  // A stopped request is planned again, so its warnings need no positions.
  if (halted === 'stopped' || halted.state === 'invalid') return halted;
  return { ...halted, plan: await locateWarnings(request, halted.plan) };
}

function withoutChanges(plan: Plan): Plan {
  return { ...plan, changes: [], claims: [], moves: [], counts: { create: 0, update: 0, delete: 0, claims: 0 } };
}
