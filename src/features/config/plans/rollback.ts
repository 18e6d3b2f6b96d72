import type { Call, Engine } from '../../../commit/engine.ts';
import type { PlanView } from '../../../operations/config/plan.ts';
import type { RollbackRequest } from './rolled-back.ts';
import { createPlan } from './saved-plans.ts';

/**
 * Plans a rollback to a former state and stores the plan, to be applied like any other. Throws `NotFound`, `Conflict`
 * (`gone`) when the revision is not kept any more, and the errors of `createPlan`.
 */
export async function createRollbackPlan(engine: Engine, call: Call, rollback: RollbackRequest): Promise<PlanView> {
  const { scope } = rollback;
  return await createPlan(engine, call, {
    source: scope.startsWith('source:') ? scope.slice('source:'.length) : '',
    documents: [],
    problems: [],
    locate: (problems) => problems,
    rollback,
  });
}
