import type { Call, Engine } from '../../../commit/engine.ts';
import { writeUntilKnown } from '../../../commit/in-doubt.ts';
import { runInSlices } from '../../../commit/slices.ts';
import { putApproval, recordApplyAttempt, supersedePlans } from '../../../db/config/plan-approvals.ts';
import { listPlans, type SavedPlan } from '../../../db/config/plans.ts';
import { recordEvents } from '../../../db/logs/events.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import type { AuditEvent } from '../../../model/declare/kind.ts';
import { Conflict, UnsafePlan } from '../../../model/errors.ts';
import type { PlanView } from '../../../operations/config/plan.ts';
import type { ApplyRequest } from './apply-request.ts';
import { unsealApplyRequest } from './plan-requests.ts';
import { type PlanWithStates, requirePlan, showPlan, stateOf, storePlan } from './saved-plans.ts';

/** Refusal of a plan with tripped guards. Carries the plan so that it can be shown. */
export class NeedsApproval extends UnsafePlan {
  readonly plan: PlanView;

  constructor(plan: PlanView) {
    super(
      `the plan needs an approval: ${plan.guards.map((guard) => guard.message).join('; ')}. Approve the digest ${plan.digest} to let exactly this plan through`,
    );
    this.plan = plan;
  }
}

/**
 * Approves the effect of a stored plan: this plan, or any other plan of its source with the same digest, passes its
 * guards until this plan expires. Throws `NotFound`, and `Conflict` (`refused`) for another digest and for a plan that
 * is applied, expired or failed.
 */
export async function approvePlan(engine: Engine, call: Call, id: string, digest: string): Promise<PlanView> {
  const saved = await requirePlan(engine, call, id);
  if (digest !== saved.digest)
    throw new Conflict(
      'refused',
      `plan ${id} does not have the digest that was approved; look at the plan again and approve its current digest`,
    );
  // When a request is repeated, the plan that it approved may have been applied already.
  if (call.isRepeated === true && saved.approvedBy?.id === call.actor.id) return await showPlan(engine, call, id);
  const state = stateOf(engine, saved);
  if (state === 'applied' || state === 'expired' || state === 'failed')
    throw new Conflict(
      'refused',
      `plan ${id} can no longer be approved, because it is ${words[state]}; make a new plan`,
    );
  await runInSlices(unsealApplyRequest(engine, call.account, saved));
  if (state !== 'approved') await recordApproval(engine, call, saved);
  engine.notices.publish({ what: 'sources', account: call.account });
  return await showPlan(engine, call, id);
}

const words = { applied: 'applied already', expired: 'expired', failed: 'failed' } as const;

async function recordApproval(
  engine: Engine,
  { account, actor }: Call,
  { id, source, digest }: SavedPlan,
): Promise<void> {
  const at = engine.now();
  const event: AuditEvent = { code: 'config.plan.approved', target: id, meta: { source, plan: id, digest } };
  const record = () =>
    engine.database.withAccountLock(account, async (held) => {
      if (!(await putApproval(held, account, id, { by: actor, at }))) return;
      await recordEvents(held, account, { actor, at, events: [event] });
    });
  await writeUntilKnown({ requestId: id }, record);
}

/**
 * Stores a plan that needs an approval before it can be applied. Returns the stored plan when one with this digest is
 * waiting already. The first time, an event reports that the plan waits.
 */
export async function storeForApproval(
  engine: Engine,
  call: Call,
  request: ApplyRequest,
  planned: PlanWithStates,
): Promise<PlanView & { readonly id: string }> {
  const { source } = request;
  const { digest, guards } = planned.plan;
  const filter = { source, digest, states: ['needs_approval'], validAt: engine.now(), limit: 1 } as const;
  const [present] = await listPlans(engine.database, call.account, filter);
  const view =
    present === undefined
      ? await storePlan(engine, call, request, { ...planned, id: engine.newId() })
      : await showPlan(engine, call, present.id);
  // A stored plan has an id.
  const id = view.id ?? '';
  if (call.actor.type === 'source')
    await supersedePlans(engine.database, call.account, source, { keep: maxWaitingPlans, at: engine.now() });
  await recordBlockedAttempt(engine, call, { id, source, digest, guards: guards.map(({ guard }) => guard) });
  return { ...view, id };
}

/**
 * Maximum number of plans of an automatically run source that wait for an approval: its documents may change all the
 * time.
 */
const maxWaitingPlans = 20;

interface BlockedAttempt {
  readonly id: string;
  readonly source: string;
  readonly digest: string;
  readonly guards: readonly string[];
}

/** Records a request to apply a plan that is not approved; writes an event the first time. */
export async function recordBlockedAttempt(
  engine: Engine,
  { account, actor }: { readonly account: string; readonly actor: Actor },
  { id, source, digest, guards }: BlockedAttempt,
): Promise<void> {
  const at = engine.now();
  const event: AuditEvent = {
    code: 'config.plan.needs_approval',
    target: id,
    meta: { source, plan: id, digest, guards: [...new Set(guards)].join(', ') },
  };
  const record = () =>
    engine.database.withAccountLock(account, async (held) => {
      if (await recordApplyAttempt(held, account, id, at))
        await recordEvents(held, account, { actor, at, events: [event] });
    });
  await writeUntilKnown({ requestId: id }, record);
}
