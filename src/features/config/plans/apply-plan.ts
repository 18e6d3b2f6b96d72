import type { Call, Engine } from '../../../commit/engine.ts';
import { writeUntilKnown } from '../../../commit/in-doubt.ts';
import { newIdFor } from '../../../commit/new-id.ts';
import type { Output } from '../../../commit/shown-once.ts';
import { runInSlices } from '../../../commit/slices.ts';
import { markPlanApplied, recordPlanFailure, type SavedPlan } from '../../../db/config/plans.ts';
import { recordEvents } from '../../../db/logs/events.ts';
import type { AuditEvent } from '../../../model/declare/kind.ts';
import { Conflict, HeddleError, Internal } from '../../../model/errors.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { PlanView } from '../../../operations/config/plan.ts';
import { viewInSteps } from '../../../plan/view/view.ts';
import type { ApplyRequest } from './apply-request.ts';
import { approvePlan, NeedsApproval, recordBlockedAttempt, storeForApproval } from './approvals.ts';
import { type ApplyResult, applyDocuments } from './documents.ts';
import { outputsOf } from './outputs.ts';
import { unsealApplyRequest } from './plan-requests.ts';
import { readablePlan } from './readable-plans.ts';
import { refusalFor } from './refusal.ts';
import { findApproval, requirePlan, showPlan, stateOf, unexpectedDigest } from './saved-plans.ts';
import { staleRefusal } from './staleness.ts';

/** Result of applying a plan. `revision` is null when there was nothing to write. */
export interface AppliedPlan {
  readonly plan: PlanView;
  readonly revision: number | null;
  /** Values that the server generated for new objects. They are shown only here. */
  readonly outputs?: readonly Output[];
}

/** Options of applying a stored plan. */
export interface ApplyOptions {
  /** Digest that the caller approves. */
  readonly approve?: string;
  /** Whether the plan is refused unless the account is still at the revision on which the plan was made. */
  readonly strictBase?: boolean;
  /** Reason for applying the plan by hand although a server runs its source. */
  readonly override?: string | undefined;
}

/**
 * Applies a saved plan. The plan is computed again on the current account and refused when it would do anything other
 * than what was shown. Throws `Conflict` (`stale`), `NeedsApproval`, `NotFound`.
 */
export async function applyPlan(
  engine: Engine,
  call: Call,
  id: string,
  { approve, strictBase = false, override }: ApplyOptions = {},
): Promise<AppliedPlan> {
  let saved = await requirePlan(engine, call, id);
  // A repeated request finds the plan that its first attempt applied.
  const use = newIdFor(engine, call);
  if (saved.appliedRequest === use) return { plan: await showPlan(engine, call, id), revision: null };
  requireUsable(engine, saved);
  const request = await runInSlices(unsealApplyRequest(engine, call.account, saved));
  if (request.ofProvider === true) throw providerPlanError(saved);
  if (saved.state === 'needs_approval' && approve === saved.digest) {
    await approvePlan(engine, call, id, approve);
    saved = { ...saved, state: 'approved' };
  }
  if (saved.state === 'needs_approval' && !(await isApproved(engine, call, saved)))
    throw await blockedPlanError(engine, call, saved);
  const exact = {
    ...request,
    ...(request.rollback === undefined ? { isManualApply: true as const } : {}),
    approve: saved.digest,
    ...(strictBase ? { expectBase: saved.baseRevision } : {}),
    ...(override === undefined ? {} : { override }),
  };
  const result = await applyDocuments(engine, call, exact).catch((error) => recordFailure(engine, call, saved, error));
  switch (result.state) {
    case 'applied':
      return await finishApplied(engine, call, { id, use }, result);
    case 'needs_approval':
      throw new Internal(`plan ${id} was applied with its digest as approval, but its guards stopped it`);
    case 'stale':
    case 'invalid':
      throw await staleRefusal(engine, call, saved, result);
  }
}

/**
 * Returns the refusal of a plan that only the identity provider can carry out, by repeating its request with its data
 * of that time.
 */
function providerPlanError({ id, digest }: SavedPlan): Conflict {
  return new Conflict(
    'refused',
    `plan ${id} is a request of an identity provider, which is carried out only when the provider sends it again; approve the digest ${digest} to let it through then`,
  );
}

function requireUsable(engine: Engine, saved: SavedPlan): void {
  const state = stateOf(engine, saved);
  const { id, appliedRevision, expiresAt, failure } = saved;
  if (state === 'applied') {
    const where = appliedRevision === undefined ? '' : ` as revision ${appliedRevision}`;
    throw new Conflict('stale', `plan ${id} was applied already${where}; make a new one`);
  }
  if (state === 'expired') throw new Conflict('stale', `plan ${id} expired at ${expiresAt}; make a new one`);
  if (state === 'failed') throw new Conflict('stale', `plan ${id} could not be applied (${failure}); make a new one`);
}

/** Whether any plan of the source with the same digest was approved. */
async function isApproved(engine: Engine, { account }: Call, { source, digest }: SavedPlan): Promise<boolean> {
  return (await findApproval(engine, account, source, digest)) !== undefined;
}

async function blockedPlanError(engine: Engine, call: Call, { id, source, digest }: SavedPlan): Promise<NeedsApproval> {
  const view = await showPlan(engine, call, id);
  await recordBlockedAttempt(engine, call, { id, source, digest, guards: view.guards.map(({ guard }) => guard) });
  return new NeedsApproval(view);
}

async function finishApplied(
  engine: Engine,
  call: Call,
  { id, use }: { readonly id: string; readonly use: string },
  result: Extract<ApplyResult, { readonly state: 'applied' }>,
): Promise<AppliedPlan> {
  const usingUp = () => markPlanApplied(engine.database, call.account, id, use);
  if (result.revision === undefined && !(await writeUntilKnown({ requestId: use }, usingUp)))
    throw new Conflict('stale', `plan ${id} was applied already; make a new one`);
  return await appliedOf(call, result);
}

/**
 * Marks the plan as failed when the error is a defect, because it is unknown whether the plan can ever be applied.
 * Errors that the caller can fix or wait out leave the plan open. Always throws.
 */
async function recordFailure(
  engine: Engine,
  call: Call,
  { id, source, digest }: SavedPlan,
  error: unknown,
): Promise<never> {
  if (error instanceof HeddleError && !(error instanceof Internal)) throw error;
  const { account, actor } = call;
  const at = engine.now();
  const failure = 'a defect of the server, which its log describes';
  const event: AuditEvent = { code: 'config.failed', target: id, meta: { source, plan: id, digest, reason: failure } };
  const record = engine.database.withAccountLock(account, async (held) => {
    if (await recordPlanFailure(held, account, id, failure))
      await recordEvents(held, account, { actor, at, events: [event] });
  });
  await record.catch((other) =>
    Promise.reject(new AggregateError([error, other], 'a defect that could not be recorded')),
  );
  throw error;
}

/** Plans and applies in one call. Throws the errors of `createPlan` and `applyPlan`. */
export async function applyNow(engine: Engine, call: Call, request: ApplyRequest): Promise<AppliedPlan> {
  const result = await applyIfApproved(engine, call, request);
  switch (result.state) {
    case 'invalid':
      throw refusalFor(await stateFor(engine, call), call, request, result.problems);
    case 'needs_approval':
      throw new NeedsApproval(await storeForApproval(engine, call, request, result));
    case 'stale':
      throw stalePlanError(request, result);
    case 'applied':
      return await appliedOf(call, result);
  }
}

/** Returns a state that decides what the caller may see. */
async function stateFor(engine: Engine, { account, revision }: Call): Promise<Snapshot> {
  return await engine.snapshots.atLeast(account, revision);
}

function stalePlanError(
  { expectBase }: ApplyRequest,
  { plan, before }: Extract<ApplyResult, { readonly state: 'stale' }>,
): Conflict {
  if (expectBase === undefined || expectBase === before.revision) return unexpectedDigest(plan.digest);
  return new Conflict(
    'stale',
    `the account is at revision ${before.revision} and no longer at ${expectBase}; read it again`,
  );
}

/** Plans and commits the documents of a source. A plan that its guards stop is committed if its digest was approved. */
export async function applyIfApproved(engine: Engine, call: Call, request: ApplyRequest): Promise<ApplyResult> {
  const result = await applyDocuments(engine, call, request);
  if (result.state !== 'needs_approval') return result;
  const approval = await findApproval(engine, call.account, request.source, result.plan.digest);
  if (approval === undefined) return result;
  return await applyDocuments(engine, call, { ...request, approve: approval.digest });
}

async function appliedOf(
  call: Call,
  result: Extract<ApplyResult, { readonly state: 'applied' }>,
): Promise<AppliedPlan> {
  const whole = await runInSlices(viewInSteps(result.plan, result.before, result.after));
  const plan = readablePlan(result.before, call, whole);
  const outputs = outputsOf(result.plan);
  return { plan, revision: result.revision ?? null, ...(outputs.length === 0 ? {} : { outputs }) };
}
