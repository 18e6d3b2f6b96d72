import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { planOnlyRefusal } from '../../commit/commit.ts';
import type { Call, Engine } from '../../commit/engine.ts';
import { type Applied, applyNow, applyPlan } from '../../features/config/plans/apply-plan.ts';
import { approvePlan } from '../../features/config/plans/approvals.ts';
import { planApply } from '../../features/config/plans/documents.ts';
import { readOutputs } from '../../features/config/plans/outputs.ts';
import { listPlanPairs } from '../../features/config/plans/plan-access.ts';
import { planRollback } from '../../features/config/plans/rollback.ts';
import { createPlan, patchPlan, showPlan, summarisePlans } from '../../features/config/plans/saved-plans.ts';
import type { Json } from '../../lib/json.ts';
import { InvalidInput, NotAllowed } from '../../model/errors.ts';
import { refusalOf } from '../../objects/objects.ts';
import { plans as operations } from '../../operations/config/plans.ts';
import { requireRight } from '../../plan/checks/authorize.ts';
import { parseScope, type RollbackScope } from '../../plan/rollback/scope.ts';
import { renderMarkdown } from '../../plan/view/markdown.ts';
import { callOf } from '../authenticate.ts';
import { keepInstead } from '../idempotency.ts';
import { implement } from '../operations/implement.ts';
import { recoverApplied } from '../recover.ts';
import { overrideReason, readApplyRequest } from './apply-request.ts';
import { bodyLimit, type ConfigRoutesOptions } from './options.ts';
import { flag, queryOf } from './request.ts';

/** Stored plans. */
export const plans = implement(operations, (engine, { planLimit }) => ({
  list: ({ call, query }) => summarisePlans(engine, call, query),
  read: ({ call, params }) => showPlan(engine, call, params.id),
  readMarkdown: async ({ call, params }) => renderMarkdown(await showPlan(engine, call, params.id)),
  readPatch: {
    onRequest: planLimit,
    handle: ({ call, params }) => patchPlan(engine, call, params.id),
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
    handle({ call, params, query, body }) {
      const { approve, strictBase = query.strictBase ?? false, override = query.override } = body;
      return applyPlan(engine, call, params.id, {
        ...(approve === undefined ? {} : { approve }),
        ...{ strictBase, override: overrideReason(override) },
      });
    },
  },
  rollBack: {
    onRequest: planLimit,
    handle: ({ call, params, body }) =>
      planRollback(engine, call, { revision: params.revision, scope: scopeOf(body.scope) }),
  },
}));

function scopeOf(text: string): RollbackScope {
  const scope = parseScope(text);
  if (scope !== undefined) return scope;
  throw new InvalidInput(
    '`scope` must be `sources` (what sources own), `source:NAME` (what one of them owns) or `all`',
  );
}

/** Outputs are shown again to callers who may still create what they belong to. */
function mayRepeatOutputs(engine: Engine) {
  return async ({ call }: { readonly call: Call }, body: Json): Promise<void> => {
    const state = await engine.snapshots.at(call.account, call.revision);
    // An answer to an apply.
    const { outputs = [] } = body as Partial<Pick<Applied, 'outputs'>>;
    for (const { kind } of outputs) requireRight(state, call.actor, engine.registry.get(kind).module, 'create');
  };
}

/** The routes by which documents are validated, planned and applied. */
export function addPlanRoutes(app: FastifyInstance, { engine, reader, planLimit }: ConfigRoutesOptions): void {
  const recover = recoverApplied(engine);
  const mayRepeat = mayRepeatOutputs(engine);
  const again: FastifyContextConfig = {
    recover: (request, _reply, done) => recover({ call: callOf(request) }, done),
    mayRepeat: (request, body) => mayRepeat({ call: callOf(request) }, body),
  };
  const planning = {
    bodyLimit,
    onRequest: planLimit,
    config: { access: { module: 'config', operation: 'read' }, plans: true },
  } as const;
  app.post('/api/config/validate', planning, async (request, reply) => {
    const { applyRequest, input } = await readApplyRequest(reader, request, reply);
    const { outcome } = await planApply(engine, callOf(request), applyRequest);
    if (!outcome.ok) throw refusalOf(outcome.problems);
    return { valid: true, documents: input.documents.length, warnings: outcome.plan.warnings };
  });
  app.post('/api/config/plans', planning, async (request, reply) => {
    const { applyRequest } = await readApplyRequest(reader, request, reply);
    return reply.code(201).send(await createPlan(engine, callOf(request), applyRequest));
  });
  app.post('/api/config/apply', { ...planning, config: again }, async (request, reply) => {
    const { applyRequest } = await readApplyRequest(reader, request, reply);
    if (flag({}, queryOf(request), 'dryRun', false))
      return { plan: await createPlan(engine, callOf(request), applyRequest), revision: null };
    return showOutputsOnce(request, reply, await applyNow(engine, callOf(request), { ...applyRequest, byHand: true }));
  });
}

/** Outputs are shown in this answer and in no other. */
function showOutputsOnce(request: FastifyRequest, reply: FastifyReply, applied: Applied): Applied {
  const { outputs, ...rest } = applied;
  if (outputs === undefined) return applied;
  void reply.header('cache-control', 'no-store');
  // An answer is plain data.
  keepInstead(request, rest as unknown as Json);
  return applied;
}
