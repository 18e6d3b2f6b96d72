import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { planOnlyRefusal } from '../../commit/commit.ts';
import type { Engine } from '../../commit/engine.ts';
import { type Applied, applyNow, applyPlan } from '../../features/config/plans/apply-plan.ts';
import { approvePlan } from '../../features/config/plans/approvals.ts';
import { planApply } from '../../features/config/plans/documents.ts';
import { readOutputs } from '../../features/config/plans/outputs.ts';
import { listPlanPairs } from '../../features/config/plans/plan-access.ts';
import { createPlan, patchPlan, showPlan, summarisePlans } from '../../features/config/plans/saved-plans.ts';
import type { Json } from '../../lib/json.ts';
import { planStates } from '../../model/declare/plan-words.ts';
import { NotAllowed } from '../../model/errors.ts';
import { refusalOf } from '../../objects/objects.ts';
import { requireRight } from '../../plan/checks/authorize.ts';
import { renderMarkdown } from '../../plan/view/markdown.ts';
import { callOf } from '../authenticate.ts';
import { keepInstead } from '../idempotency.ts';
import { objectBody, textMember } from '../input/bodies.ts';
import { recoverApplied } from '../recover.ts';
import { overrideOf, readApplyRequest } from './apply-request.ts';
import { bodyLimit, type ConfigRoutesOptions } from './options.ts';
import { flag, parameter, queryOf, textOf, wholeNumber, wordOf } from './request.ts';

/** The routes by which documents are validated, planned and applied. */
export function addPlanRoutes(app: FastifyInstance, options: ConfigRoutesOptions): void {
  addDocumentRoutes(app, options);
  addViewRoutes(app, options);
  addUseRoutes(app, options);
}

/** What takes documents. */
function addDocumentRoutes(app: FastifyInstance, { engine, reader, planLimit }: ConfigRoutesOptions): void {
  const again = { recover: recoverApplied(engine), mayRepeat: mayRepeat(engine) };
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
    return shownOnce(request, reply, await applyNow(engine, callOf(request), { ...applyRequest, byHand: true }));
  });
}

/** What shows stored plans. */
function addViewRoutes(app: FastifyInstance, { engine, planLimit }: ConfigRoutesOptions): void {
  app.get('/api/config/plans', async (request) => {
    const query = queryOf(request);
    const { source, limit } = query;
    const state = wordOf(query, 'state', planStates);
    return summarisePlans(engine, callOf(request), {
      ...(source === undefined ? {} : { source }),
      ...(state === undefined ? {} : { state }),
      limit: limit === undefined ? 100 : wholeNumber('limit', limit),
    });
  });
  app.get('/api/config/plans/:id', async (request) => showPlan(engine, callOf(request), parameter(request, 'id')));
  app.get('/api/config/plans/:id.md', async (request, reply) => {
    const plan = await showPlan(engine, callOf(request), parameter(request, 'id'));
    return reply.header('content-type', 'text/markdown; charset=utf-8').send(renderMarkdown(plan));
  });
  app.get('/api/config/plans/:id/patch', { onRequest: planLimit }, async (request) =>
    patchPlan(engine, callOf(request), parameter(request, 'id')),
  );
  app.get('/api/config/plans/:id/access', { onRequest: planLimit }, async (request) => {
    const { from, to, limit = '1000' } = queryOf(request);
    const query = { from, to, limit: wholeNumber('limit', limit) };
    return listPlanPairs(engine, callOf(request), parameter(request, 'id'), query);
  });
  // Reading the outputs removes them for every other caller, and they are secrets: the right to read alone is not
  // enough.
  const taking = { exposeHeadRoute: false, config: { access: { module: 'config', operation: 'update' } } } as const;
  app.get('/api/config/plans/:id/outputs', taking, async (request, reply) => {
    const call = callOf(request);
    if (call.planOnly === true) throw new NotAllowed(planOnlyRefusal);
    const outputs = await readOutputs(engine, call, parameter(request, 'id'));
    return reply.header('cache-control', 'no-store').send(outputs);
  });
}

/** What is done with stored plans. */
function addUseRoutes(app: FastifyInstance, { engine, planLimit }: ConfigRoutesOptions): void {
  app.post('/api/config/plans/:id/approve', async (request) => {
    const digest = textMember(objectBody(request.body), 'digest');
    return approvePlan(engine, callOf(request), parameter(request, 'id'), digest);
  });
  app.post(
    '/api/config/plans/:id/apply',
    { onRequest: planLimit, config: { recover: recoverApplied(engine), mayRepeat: mayRepeat(engine) } },
    async (request, reply) => {
      const body = request.body === undefined ? {} : objectBody(request.body);
      const approve = textOf(body, 'approve');
      const applied = await applyPlan(engine, callOf(request), parameter(request, 'id'), {
        ...(approve === undefined ? {} : { approve }),
        strictBase: flag(body, queryOf(request), 'strictBase', false),
        override: overrideOf(body, queryOf(request)),
      });
      return shownOnce(request, reply, applied);
    },
  );
}

/** Outputs are shown again to callers who may still create what they belong to. */
function mayRepeat(engine: Engine) {
  return async (request: FastifyRequest, body: Json): Promise<void> => {
    const call = callOf(request);
    const state = await engine.snapshots.at(call.account, call.revision);
    // Written by `shownOnce`, or from the same outputs.
    const { outputs = [] } = body as Partial<Pick<Applied, 'outputs'>>;
    for (const { kind } of outputs) requireRight(state, call.actor, engine.registry.get(kind).module, 'create');
  };
}

/** Outputs are shown in this answer and in no other. */
function shownOnce(request: FastifyRequest, reply: FastifyReply, applied: Applied): Applied {
  const { outputs, ...rest } = applied;
  if (outputs === undefined) return applied;
  void reply.header('cache-control', 'no-store');
  // An answer is plain data.
  keepInstead(request, rest as unknown as Json);
  return applied;
}
