import type { Json } from '../lib/json.ts';
import { Conflict, NotFound, UnsafePlan } from '../model/errors.ts';
import { type ObjectPatch, patchesOf } from '../plan/patch.ts';
import type { Plan } from '../plan/plan.ts';
import { type PlanView, viewPlan } from '../plan/view.ts';
import { claimPlan, readPlan, type SavedPlan, savePlan, settlePlan } from '../store/plans.ts';
import { applyDesire, type Desire, planDesire, type Reconciled } from './documents.ts';
import type { Call, Engine } from './engine.ts';
import { refusalOf } from './objects.ts';
import { type Output, outputsOf } from './outputs.ts';
import { desireOf, keepDesire } from './plan-requests.ts';

/** A plan that was applied. `revision` is null when there was nothing to write. */
export interface Applied {
  readonly plan: PlanView;
  readonly revision: number | null;
  /** Values that the server made up for new objects: shown here and never again. */
  readonly outputs?: readonly Output[];
}

const moved = 'the account moved since the plan was made, and applying it now would do something else; make a new plan';

/** Plans expire after a day. */
const lifetime = 24 * 60 * 60 * 1000;

/** Plans what a source wants and keeps the plan, to be applied as it is or not at all. Throws `InvalidInput` with all problems. */
export async function createPlan(engine: Engine, call: Call, desire: Desire): Promise<PlanView> {
  const { outcome, before } = await planDesire(engine, call, desire);
  if (!outcome.ok) throw refusalOf(outcome.problems);
  const now = engine.now();
  const id = engine.newId();
  const state = outcome.plan.guards.length > 0 ? 'needs_approval' : 'ready';
  const expiresAt = new Date(Date.parse(now) + lifetime).toISOString();
  const view: PlanView = { ...viewPlan(outcome.plan, before, outcome.next), id, state, expiresAt };
  await savePlan(engine.database, call.account, {
    id,
    source: desire.source,
    digest: outcome.plan.digest,
    state,
    request: keepDesire(engine, desire),
    // A view is plain data.
    view: view as unknown as Json,
    baseRevision: outcome.plan.base,
    actor: { ...call.actor },
    createdAt: now,
    expiresAt,
  });
  return view;
}

/** The view of a saved plan. Throws `NotFound`. */
export async function showPlan(engine: Engine, call: Call, id: string): Promise<PlanView> {
  const saved = await requirePlan(engine, call, id);
  return { ...(saved.view as unknown as PlanView), state: saved.state };
}

/** A saved plan as JSON patches, computed on the account as it is now. Throws `Conflict` when the account moved. */
export async function patchPlan(engine: Engine, call: Call, id: string): Promise<readonly ObjectPatch[]> {
  const saved = await requirePlan(engine, call, id);
  if (saved.state === 'applied') throw new Conflict('stale', `plan ${id} was applied already; make a new one`);
  const { outcome } = await planDesire(engine, call, desireOf(engine, saved, undefined));
  if (!outcome.ok || outcome.plan.digest !== saved.digest) throw new Conflict('stale', moved);
  return patchesOf(engine.registry, outcome.plan);
}

/**
 * Applies a saved plan: it is computed again on the account as it is now, and refused when it would do anything else than
 * what was shown. Throws `Conflict` (`stale`), `UnsafePlan` without the approval it needs, `NotFound`.
 */
export async function applyPlan(engine: Engine, call: Call, id: string, approve?: string): Promise<Applied> {
  const saved = await requirePlan(engine, call, id);
  if (saved.state === 'applied') throw new Conflict('stale', `plan ${id} was applied already; make a new one`);
  if (saved.state === 'needs_approval' && approve !== saved.digest) throw unsafe(saved.view as unknown as PlanView);
  if (!(await claimPlan(engine.database, call.account, id)))
    throw new Conflict('stale', `plan ${id} is being applied already`);
  const applied = await applyNow(engine, call, desireOf(engine, saved, approve)).catch(async (error) => {
    await settlePlan(engine.database, call.account, id, { state: saved.state });
    throw error;
  });
  // An applied plan is never given back, also when this last note fails.
  await settlePlan(engine.database, call.account, id, {
    revision: applied.revision,
    told: applied.outputs !== undefined,
  });
  return applied;
}

/** Plans and applies in one call. Throws as `createPlan` and `applyPlan` do. */
export async function applyNow(engine: Engine, call: Call, desire: Desire): Promise<Applied> {
  const result = await applyDesire(engine, call, desire);
  switch (result.state) {
    case 'invalid':
      // A saved plan was valid when it was made: what is wrong with it now is what moved.
      if (desire.planId !== undefined) throw new Conflict('stale', moved, { problems: result.problems });
      throw refusalOf(result.problems);
    case 'needs_approval':
      throw unsafe(viewOf(result));
    case 'stale':
      throw new Conflict('stale', moved);
    case 'applied':
      return { plan: viewOf(result), revision: result.revision ?? null, ...toldOutputs(result.plan) };
  }
}

function toldOutputs(plan: Plan): Pick<Applied, 'outputs'> {
  const outputs = outputsOf(plan);
  return outputs.length === 0 ? {} : { outputs };
}

function viewOf(result: Exclude<Reconciled, { readonly state: 'invalid' }>): PlanView {
  return viewPlan(result.plan, result.before, result.after);
}

/** The refusal of a plan with tripped guards, with the plan so that it can be shown. */
export class NeedsApproval extends UnsafePlan {
  readonly plan: PlanView;

  constructor(plan: PlanView) {
    super(
      `the plan needs an approval: ${plan.guards.map((guard) => guard.message).join('; ')}. Approve the digest ${plan.digest} to let exactly this plan through`,
    );
    this.plan = plan;
  }
}

function unsafe(plan: PlanView): NeedsApproval {
  return new NeedsApproval(plan);
}

async function requirePlan(engine: Engine, call: Call, id: string): Promise<SavedPlan> {
  const saved = await readPlan(engine.database, call.account, id);
  if (saved === undefined || saved.expiresAt < engine.now())
    throw new NotFound(`plan ${id} not found; plans are kept for a day`);
  return saved;
}
