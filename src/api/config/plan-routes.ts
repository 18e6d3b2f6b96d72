import { planOnlyRefusal } from '../../commit/commit.ts';
import { applyPlan } from '../../features/config/plans/apply-plan.ts';
import { approvePlan } from '../../features/config/plans/approvals.ts';
import { readOutputs } from '../../features/config/plans/outputs.ts';
import { listPlanPairs } from '../../features/config/plans/plan-access.ts';
import { createRollbackPlan } from '../../features/config/plans/rollback.ts';
import { showPlan, showPlanPatches, summarisePlans } from '../../features/config/plans/saved-plans.ts';
import { InvalidInput, NotAllowed } from '../../model/errors.ts';
import { plans as operations } from '../../operations/config/plans.ts';
import { parseScope, type RollbackScope } from '../../plan/rollback/scope.ts';
import { renderMarkdown } from '../../plan/view/markdown.ts';
import { implement } from '../operations/implement.ts';
import { recoverApplied } from '../recover.ts';
import { mayRepeatOutputs } from './repeated-outputs.ts';

/** Stored plans. */
export const plans = implement(operations, (engine, { planLimit }) => ({
  list: ({ call, query }) => summarisePlans(engine, call, query),
  read: ({ call, params }) => showPlan(engine, call, params.id),
  readMarkdown: async ({ call, params }) => renderMarkdown(await showPlan(engine, call, params.id)),
  readPatch: {
    onRequest: planLimit,
    handle: ({ call, params }) => showPlanPatches(engine, call, params.id),
  },
  readAccess: {
    onRequest: planLimit,
    handle: ({ call, params, query }) => listPlanPairs(engine, call, params.id, query),
  },
  readOutputs({ call, params }) {
    if (call.planOnly === true) throw new NotAllowed(planOnlyRefusal);
    return readOutputs(engine, call, params.id);
  },
  approve: ({ call, params, body }) => approvePlan(engine, call, params.id, body.digest),
  apply: {
    onRequest: planLimit,
    recover: recoverApplied(engine),
    mayRepeat: mayRepeatOutputs(engine),
    handle: ({ call, params, body }) => applyPlan(engine, call, params.id, body),
  },
  rollBack: {
    onRequest: planLimit,
    handle: ({ call, params, body }) =>
      createRollbackPlan(engine, call, { revision: params.revision, scope: scopeOf(body.scope) }),
  },
}));

function scopeOf(text: string): RollbackScope {
  const scope = parseScope(text);
  if (scope !== undefined) return scope;
  throw new InvalidInput(
    '`scope` must be `sources` (what sources own), `source:NAME` (what one of them owns) or `all`',
  );
}
