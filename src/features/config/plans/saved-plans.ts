import type { Call, Engine } from '../../../commit/engine.ts';
import { retryAfterWrite, writeUntilKnown } from '../../../commit/in-doubt.ts';
import { newIdFor } from '../../../commit/new-id.ts';
import { runInSlices } from '../../../commit/slices.ts';
import {
  listPlans,
  type PlanHead,
  planTexts,
  readPlan,
  type SavedPlan,
  type StoredState,
  savePlan,
} from '../../../db/config/plans.ts';
import { findWriters, type UnitRef } from '../../../db/config/writers.ts';
import { Conflict, NotFound } from '../../../model/errors.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { createKindNameReadCheck } from '../../../objects/object-list.ts';
import type { PlanState, PlanSummary, PlanView } from '../../../operations/config/plan.ts';
import { runningOverrides } from '../../../plan/ownership/running-overrides.ts';
import { type Plan, subjectOf } from '../../../plan/plan.ts';
import { type ObjectPatch, patchesInSteps } from '../../../plan/view/patch.ts';
import { viewInSteps } from '../../../plan/view/view.ts';
import type { ApplyRequest } from './apply-request.ts';
import { planApply } from './documents.ts';
import { sealApplyRequest, unsealApplyRequest } from './plan-requests.ts';
import { readablePlan } from './readable-plans.ts';
import { refusalFor } from './refusal.ts';

/** Lifetime of a plan, in milliseconds: one day. */
const lifetime = 24 * 60 * 60 * 1000;

/**
 * Plans what a source states and stores the plan, to be applied unchanged or not at all. Throws `InvalidInput` with all
 * problems.
 */
export async function createPlan(engine: Engine, call: Call, request: ApplyRequest): Promise<PlanView> {
  // A repeated request finds the plan that its first attempt made.
  const id = newIdFor(engine, call);
  if (call.isRepeated === true && (await readPlan(engine.database, call.account, id)) !== undefined)
    return await showPlan(engine, call, id);
  const { outcome, before } = await planApply(engine, call, request);
  if (!outcome.ok) throw refusalFor(before, call, request, outcome.problems);
  const { digest } = outcome.plan;
  if (request.expectDigest !== undefined && request.expectDigest !== digest) throw unexpectedDigest(digest);
  return await storePlan(engine, call, request, { id, plan: outcome.plan, before, after: outcome.next });
}

/** Returns the refusal of a plan whose digest is not the expected one. */
export function unexpectedDigest(digest: string): Conflict {
  return new Conflict(
    'stale',
    `the plan now has the digest ${digest}, which is not the expected one; look at the plan again`,
  );
}

/** A plan with the states before and after it. */
export interface PlanWithStates {
  readonly plan: Plan;
  readonly before: Snapshot;
  readonly after: Snapshot;
}

/** Stores a plan and returns its view. The id must be new, unless the request is repeated. */
export async function storePlan(
  engine: Engine,
  call: Call,
  request: ApplyRequest,
  { id, plan, before, after }: PlanWithStates & { readonly id: string },
): Promise<PlanView> {
  const now = engine.now();
  const changes = await runInSlices(viewInSteps(plan, before, after));
  const overrides = runningOverrides(after, await engine.databaseTime(engine.database, call.account), request.source);
  const view = overrides.length === 0 ? changes : { ...changes, overrides };
  const saved: SavedPlan = {
    id,
    source: request.source,
    digest: plan.digest,
    state: plan.guards.length > 0 ? 'needs_approval' : 'ready',
    request: await runInSlices(sealApplyRequest(engine, { account: call.account, id }, request)),
    view: await withWriters(engine, call.account, plan, view),
    baseRevision: plan.base,
    actor: call.actor,
    createdAt: now,
    expiresAt: new Date(Date.parse(now) + lifetime).toISOString(),
  };
  const texts = await runInSlices(planTexts(saved));
  // A plan is stored once under its id, however often the write is tried.
  await writeUntilKnown({ requestId: id }, () => savePlan(engine.database, call.account, saved, texts));
  if (call.requestId !== undefined) return await retryAfterWrite(() => showPlan(engine, call, id));
  return readablePlan(before, call, viewOf(engine, saved));
}

/** Returns the view of a saved plan, limited to what the caller may read. Throws `NotFound`. */
export async function showPlan(engine: Engine, call: Call, id: string): Promise<PlanView> {
  const view = viewOf(engine, await requirePlan(engine, call, id));
  return readablePlan(await engine.snapshots.atLeast(call.account, call.revision), call, view);
}

function viewOf(engine: Engine, saved: SavedPlan): PlanView {
  return { ...saved.view, ...planStatusOf(engine, saved) };
}

/** Returns the state of a stored plan, and the actors and times of its steps. */
function planStatusOf(engine: Engine, head: PlanHead) {
  const { id, createdAt, actor, expiresAt, approvedAt, approvedBy, appliedRevision, failure } = head;
  return {
    ...{ id, state: stateOf(engine, head), createdAt, createdBy: actor, expiresAt },
    ...(approvedAt === undefined ? {} : { approvedAt }),
    ...(approvedBy === undefined ? {} : { approvedBy }),
    ...(appliedRevision === undefined ? {} : { appliedRevision }),
    ...(failure === undefined ? {} : { failure }),
  };
}

/** Returns the current state of a stored plan, which may be `expired`. */
export function stateOf(engine: Engine, { state, expiresAt }: PlanHead): PlanState {
  return openStates.includes(state) && expiresAt <= engine.now() ? 'expired' : state;
}

const openStates: readonly StoredState[] = ['ready', 'needs_approval', 'approved'];

/** Returns summaries of the account's stored plans, newest first. */
export async function summarisePlans(
  engine: Engine,
  { account }: Call,
  { source, state, limit }: { readonly source?: string; readonly state?: PlanState; readonly limit: number },
): Promise<readonly PlanSummary[]> {
  const heads = await listPlans(engine.database, account, {
    ...(source === undefined ? {} : { source }),
    ...stateFilter(engine, state),
    limit,
  });
  return heads.map(({ counts, ...head }) => ({
    formatVersion: '1.0',
    ...planStatusOf(engine, head),
    source: head.source,
    digest: head.digest,
    baseRevision: head.baseRevision,
    counts,
  }));
}

function stateFilter(engine: Engine, state: PlanState | undefined) {
  if (state === undefined) return {};
  if (state === 'expired') return { states: openStates, expiredAt: engine.now() };
  return openStates.includes(state) ? { states: [state], validAt: engine.now() } : { states: [state] };
}

/**
 * Returns the plan whose valid approval lets plans of this source with this digest pass their guards, if there is one.
 */
export async function findApproval(
  engine: Engine,
  account: string,
  source: string,
  digest: string,
): Promise<PlanHead | undefined> {
  const filter = { source, digest, states: ['approved'], validAt: engine.now(), limit: 1 } as const;
  const [found] = await listPlans(engine.database, account, filter);
  return found;
}

/**
 * Returns a saved plan as JSON patches, computed on the current account. Throws `Conflict` when the account changed so
 * that the plan would do something else.
 */
export async function showPlanPatches(engine: Engine, call: Call, id: string): Promise<readonly ObjectPatch[]> {
  const { plan, before } = await replan(engine, call, id);
  const isReadable = createKindNameReadCheck(before, call);
  const patches = await runInSlices(patchesInSteps(engine.registry, plan));
  return patches.filter(({ kind }) => isReadable(kind));
}

/**
 * Computes a saved plan again on the current account, with the rights of its author, because readers of the plan do not
 * need these rights. Throws `NotFound`, and `Conflict` when the plan would do something else now.
 */
export async function replan(engine: Engine, call: Call, id: string): Promise<PlanWithStates> {
  const saved = await requirePlan(engine, call, id);
  if (saved.state === 'applied') throw new Conflict('stale', `plan ${id} was applied already; make a new one`);
  const { outcome, before } = await planApply(
    engine,
    { ...call, actor: saved.actor },
    await runInSlices(unsealApplyRequest(engine, call.account, saved)),
  );
  if (!outcome.ok || outcome.plan.digest !== saved.digest)
    throw new Conflict(
      'stale',
      `the account changed since plan ${id} was made, and the plan would now make different changes; make a new plan`,
    );
  return { plan: outcome.plan, before, after: outcome.next };
}

/** Returns a stored plan of the caller's account. Throws `NotFound`. */
export async function requirePlan(engine: Engine, call: Call, id: string): Promise<SavedPlan> {
  const saved = await readPlan(engine.database, call.account, id);
  if (saved === undefined) throw new NotFound(`plan ${id} not found; plans are kept for a week after they expire`);
  return saved;
}

/** Maximum number of units of a plan for which the last writer is looked up. */
const maxUnits = 500;

/** Returns the view with the writer and the time of each value without an owner that the source takes over. */
async function withWriters(engine: Engine, account: string, plan: Plan, view: PlanView): Promise<PlanView> {
  const claimed = plan.changes.flatMap((change) =>
    (change.claimed ?? []).map((path): UnitRef => ({ object: subjectOf(change).id, path })),
  );
  if (claimed.length === 0) return view;
  const writers = await findWriters(engine.database, account, claimed.slice(0, maxUnits));
  const known = new Map(writers.map(({ object, path, actor, at }) => [`${object} ${path}`, { actor, at }]));
  const changes = view.changes.map((change, at) => {
    const { units = [], action } = plan.changes[at] ?? {};
    // The view of an update shows every unit, in the same order as the plan.
    if (action !== 'update') return change;
    const shown = change.units.map((unit, index) => {
      const writer = known.get(`${change.id} ${units[index]?.path}`);
      return writer === undefined
        ? unit
        : { ...unit, setBy: { name: String(writer.actor['name']), at: writer.at.toISOString() } };
    });
    return { ...change, units: shown };
  });
  return { ...view, changes };
}
