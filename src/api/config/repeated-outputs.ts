import type { Call, Engine } from '../../commit/engine.ts';
import type { AppliedPlan } from '../../features/config/plans/apply-plan.ts';
import type { Json } from '../../lib/json.ts';
import { requireRight } from '../../plan/checks/authorize.ts';

/** Returns the check that allows outputs to be shown again: the caller must still be allowed to create their kinds. */
export function mayRepeatOutputs(engine: Engine) {
  return async ({ call }: { readonly call: Call }, body: Json): Promise<void> => {
    const state = await engine.snapshots.atLeast(call.account, call.revision);
    // The body is the answer to an apply.
    const { outputs = [] } = body as Partial<Pick<AppliedPlan, 'outputs'>>;
    for (const { kind } of outputs) requireRight(state, call.actor, engine.registry.get(kind).module, 'create');
  };
}
