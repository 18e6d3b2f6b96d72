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
  noteClaims,
  type PendingClaims,
  planAmongClaims,
  type Refused,
  readClaims,
} from '../../../objects/pending-claims.ts';
import { postponedIn, waitingKeys } from '../../../plan/ownership/claims-of-others.ts';
import { overriddenObjects } from '../../../plan/ownership/running-overrides.ts';
import { isEmptyPlan, type Outcome, type Plan } from '../../../plan/plan.ts';
import { traced } from '../../../telemetry/span.ts';
import type { ApplyRequest } from './apply-request.ts';
import { afterCommit } from './bookkeeping.ts';
import { draft, type PlanContext } from './draft-documents.ts';
import { locateOutcome, locateProblems, locateWarnings } from './locate-problems.ts';
import { moveDocuments } from './moved-documents.ts';
import { keepOutputs } from './outputs.ts';
import { reviewAccess } from './review-access.ts';
import { isAgreed, settleAgreed } from './rolled-back.ts';
import { refuseByHand, refuseSuspended } from './suspended.ts';

/** Result of applying documents. Nothing is written unless the state is `applied`. */
export type Reconciled =
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

/** Plans an apply request on the revision that the caller has seen, or on a later one. Writes nothing. */
export async function planApply(
  engine: Engine,
  call: Call,
  request: ApplyRequest,
): Promise<{ readonly outcome: Outcome; readonly before: Snapshot }> {
  const { before, context } = await readContext(engine, call, request);
  const outcome = await traced('plan', {}, () => planOn(engine, call, before, request, context));
  return { outcome: await locateOutcome(request, outcome), before };
}

/** Plans as `planApply` does, but without the review of who gains and loses access and without access tests. */
export async function planUnreviewed(
  engine: Engine,
  call: Call,
  request: ApplyRequest,
): Promise<{ readonly outcome: Outcome; readonly before: Snapshot }> {
  const { before, context } = await readContext(engine, call, request);
  return { outcome: await locateOutcome(request, await draft(engine, call, before, request, context)), before };
}

/**
 * Returns the state to roll back to. It is read once before planning: while a plan holds the account, the database has
 * no connection to spare.
 */
async function pastOf(
  engine: Engine,
  { account }: Call,
  { rollback, archived }: ApplyRequest,
): Promise<Snapshot | undefined> {
  if (rollback === undefined) return undefined;
  return archived ?? (await engine.past.at(account, rollback.revision));
}

/** Returns the state and the context of a plan that is only shown. */
async function readContext(
  engine: Engine,
  call: Call,
  request: ApplyRequest,
): Promise<{ readonly before: Snapshot; readonly context: PlanContext }> {
  const { database } = engine;
  const before = await engine.snapshots.at(call.account, call.revision);
  const past = await pastOf(engine, call, request);
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
  const now = isTimed ? await engine.time(database, before.account) : engine.now();
  return { now, database, claims, ...(past === undefined ? {} : { past }) };
}

async function planOn(
  engine: Engine,
  call: Call,
  before: Snapshot,
  request: ApplyRequest,
  context: PlanContext,
): Promise<Outcome> {
  const outcome = await draft(engine, call, before, request, context);
  // The guards check both the caller and the plan's author, so a caller who applies another user's plan is bound by its
  // guards.
  const actors = [call.actor, ...(request.plannedBy === undefined ? [] : [request.plannedBy])];
  return await reviewAccess(engine, { before, source: request.source, actors }, outcome);
}

/**
 * Plans and commits what a source states, as one revision or not at all. Before anything is deleted, the other sources
 * are asked to record their claims, so that an object that moves from one source to another is not deleted.
 */
export async function applyDocuments(engine: Engine, call: Call, request: ApplyRequest): Promise<Reconciled> {
  const result = await applyWithFreshClaims(engine, call, request);
  if (isAgreed(request, result)) await settleAgreed(engine, call, request.source, result.before);
  return result;
}

async function applyWithFreshClaims(engine: Engine, call: Call, request: ApplyRequest): Promise<Reconciled> {
  const { account } = call;
  const claimRefreshers = [...engine.claimRefreshers].filter((refresher) =>
    refresher.isConcerned(account, request.source),
  );
  if (claimRefreshers.length > 0 && request.rollback === undefined) {
    const result = await applyNoting(engine, call, request, (plan) => plan.counts.delete > 0);
    if (result !== 'stopped') return result;
    for (const refresher of claimRefreshers) await refresher.ask(account, request.source);
  }
  const result = await applyNoting(engine, call, request, () => false);
  if (result === 'stopped') throw new Error('the plan was stopped although no stop was requested');
  return result;
}

/** Applies the request unless `isStop` matches its plan, and records the claims that the source could not get. */
async function applyNoting(
  engine: Engine,
  call: Call,
  request: ApplyRequest,
  isStop: (plan: Plan) => boolean,
): Promise<Reconciled | 'stopped'> {
  const past = await pastOf(engine, call, request);
  const { result, refused } = await applyAgainst(engine, call, request, past, isStop);
  if (result !== 'stopped' && refused !== undefined && request.rollback === undefined)
    await noteClaims(engine, call.account, request.source, refused);
  return result;
}

/**
 * Result of an attempt, and the claims that the source could not get. `refused` is `undefined` when they are unknown,
 * or were written with the commit.
 */
interface Attempt {
  readonly result: Reconciled | 'stopped';
  readonly refused: Refused | undefined;
}

/** A plan to apply, the claims with which it was planned, and the reason why it may not be applied, if any. */
interface Applicable {
  readonly outcome: Outcome;
  readonly known: PendingClaims;
  readonly halt: Reconciled | 'stopped' | undefined;
}

async function planToApply(
  engine: Engine,
  call: Call,
  request: ApplyRequest,
  { before, database, past }: { before: Snapshot; database: AccountAccess; past: Snapshot | undefined },
  isStop: (plan: Plan) => boolean,
): Promise<Applicable> {
  const plan = async (known: PendingClaims): Promise<Applicable> => {
    const context = await contextOf(engine, database, { before, past, claims: known });
    const outcome = await planOn(engine, call, before, request, context);
    return { outcome, known, halt: outcome.ok ? haltOf(outcome, request, before, isStop) : undefined };
  };
  if (request.rollback !== undefined) return plan(noClaims);
  const isCommitted = ({ outcome, halt }: Applicable) => outcome.ok && halt === undefined && !isEmptyPlan(outcome.plan);
  return planAmongClaims(database, before, plan, isCommitted);
}

async function applyAgainst(
  engine: Engine,
  call: Call,
  request: ApplyRequest,
  past: Snapshot | undefined,
  isStop: (plan: Plan) => boolean,
): Promise<Attempt> {
  let halted: Reconciled | 'stopped' | undefined;
  let refused: Refused | undefined;
  let claims: PlannedClaims | undefined;
  let kept: SavedPlan | undefined;
  const lapse = request.lease === undefined ? engine.claimLapse : undefined;
  const propose: Propose = async (before, database) => {
    [claims, kept] = [undefined, undefined];
    if (request.byHand === true) {
      refuseSuspended(before, request.source);
      refuseByHand(before, request.source, request.override);
    }
    const { outcome, known, halt } = await planToApply(engine, call, request, { before, database, past }, isStop);
    halted = halt;
    const lacks = outcome.ok ? { keys: waitingKeys(outcome.plan), units: [] } : outcome.claimed;
    refused = lacks === undefined ? undefined : { revision: before.revision, lacks, lapse };
    if (!outcome.ok) return outcome;
    if (typeof halt === 'object' && halt.state === 'needs_approval')
      for (const { guard } of outcome.plan.guards) engine.observer.report({ what: 'guard', guard });
    // A plan that may not be applied proposes an empty plan.
    if (halt !== undefined) return { ok: true, plan: nothing(outcome.plan), next: before };
    if (request.rollback !== undefined) return outcome;
    claims = { at: known.sequence, put: claimsAfter(engine.registry, outcome.plan, known, engine.now()) };
    // The commit writes claims, so the new state must not remember that there are none.
    return claims.put.length === 0 ? outcome : { ...outcome, next: outcome.next.withUnclaimed(undefined) };
  };
  const { commitRef, commitInfo, planId, lease, approve } = request;
  const keep: Mutation['keep'] = (planned) => {
    kept = keepOutputs(engine, call, request.source, planned);
    return kept;
  };
  const committed = await engine.committer.mutate({
    ...call,
    propose,
    // A rollback has its own event.
    audit: (plan) => (plan.rollback === undefined ? [appliedEvent(plan, request)] : []),
    ...(approve === undefined ? {} : { approved: approve }),
    ...(commitRef === undefined ? {} : { commitRef }),
    ...(commitInfo === undefined ? {} : { commitInfo }),
    ...(planId === undefined ? {} : { planId }),
    ...(lease === undefined ? {} : { lease }),
    ...(request.keepOutputs === true ? { keep } : {}),
    claims: () => claims,
  });
  if (!committed.ok)
    return { result: { state: 'invalid', problems: await locateProblems(request, committed.problems) }, refused };
  if (halted !== undefined) return { result: await placeHalted(request, halted), refused };
  const { revision, before, after } = committed;
  let { plan } = committed;
  const place = async () => {
    plan = await locateWarnings(request, plan);
  };
  if (revision === undefined) await place();
  else await afterCommit(engine, `locating the warnings of source ${request.source}`, place);
  const move = () => moveDocuments(engine, call.account, request.source, plan.moves, after);
  if (revision === undefined) await move();
  else await afterCommit(engine, `updating the document lines of source ${request.source}`, move);
  const applied: Reconciled = {
    ...{ state: 'applied', plan, before, after },
    ...(revision === undefined ? {} : { revision }),
    ...(kept === undefined ? {} : { kept: kept.id }),
  };
  const settled = { revision: before.revision, lacks: { keys: [], units: [], ...postponedIn(plan) } };
  return { result: applied, refused: revision === undefined ? settled : undefined };
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

function haltOf(
  { plan, next: after }: Extract<Outcome, { readonly ok: true }>,
  request: ApplyRequest,
  before: Snapshot,
  isStop: (plan: Plan) => boolean,
): Reconciled | 'stopped' | undefined {
  if (isStop(plan)) return 'stopped';
  const { expectDigest = plan.digest, expectBase = before.revision } = request;
  if (expectDigest !== plan.digest || expectBase !== before.revision) return { state: 'stale', plan, before, after };
  if (plan.guards.length > 0 && request.approve !== plan.digest)
    return { state: 'needs_approval', plan, before, after };
  return undefined;
}

async function placeHalted(request: ApplyRequest, halted: Reconciled | 'stopped'): Promise<Reconciled | 'stopped'> {
  // A stopped request is planned again, so its warnings need no places.
  if (halted === 'stopped' || halted.state === 'invalid') return halted;
  return { ...halted, plan: await locateWarnings(request, halted.plan) };
}

function nothing(plan: Plan): Plan {
  return { ...plan, changes: [], claims: [], moves: [], counts: { create: 0, update: 0, delete: 0, claims: 0 } };
}
