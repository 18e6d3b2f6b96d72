import type { PlanOutcome } from '../plan.ts';

/** Maximum number of objects that one plan may change. */
const maxChanges = 50_000;

/** Returns the outcome, or a problem when its plan changes more than `most` objects. */
export function limitPlanSize(outcome: PlanOutcome, most = maxChanges): PlanOutcome {
  if (!outcome.ok || outcome.plan.changes.length <= most) return outcome;
  const message = `the plan changes ${outcome.plan.changes.length} objects, and a plan may change at most ${most}; apply the documents in parts, by kinds or labels`;
  return { ok: false, problems: [{ code: 'plan_too_large', message }] };
}
