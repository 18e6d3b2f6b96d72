import type { FastifyInstance } from 'fastify';
import { planDesire } from '../../engine/documents.ts';
import { refusalOf } from '../../engine/objects.ts';
import { readOutputs } from '../../engine/outputs.ts';
import { applyNow, applyPlan, createPlan, patchPlan, showPlan } from '../../engine/saved-plans.ts';
import { callOf } from '../authenticate.ts';
import { objectBody } from '../bodies.ts';
import { readDesire } from './desire.ts';
import { bodyLimit, type ConfigRoutesOptions } from './options.ts';
import { parameter, queryOf, textOf } from './request.ts';

/** The routes by which documents are validated, planned and applied. */
export function addPlanRoutes(app: FastifyInstance, { engine, reader }: ConfigRoutesOptions): void {
  app.post('/api/config/validate', { bodyLimit }, async (request) => {
    const { desire, input } = await readDesire(reader, request);
    const { outcome } = await planDesire(engine, callOf(request), desire);
    if (!outcome.ok) throw refusalOf(outcome.problems);
    return { valid: true, documents: input.documents.length, warnings: outcome.plan.warnings };
  });
  app.post('/api/config/plans', { bodyLimit }, async (request, reply) => {
    const { desire } = await readDesire(reader, request);
    return reply.code(201).send(await createPlan(engine, callOf(request), desire));
  });
  app.get('/api/config/plans/:id', async (request) => showPlan(engine, callOf(request), parameter(request, 'id')));
  app.get('/api/config/plans/:id/patch', async (request) =>
    patchPlan(engine, callOf(request), parameter(request, 'id')),
  );
  app.get('/api/config/plans/:id/outputs', async (request, reply) => {
    const outputs = await readOutputs(engine, callOf(request), parameter(request, 'id'));
    return reply.header('cache-control', 'no-store').send(outputs);
  });
  app.post('/api/config/plans/:id/apply', async (request) => {
    const body = request.body === undefined ? {} : objectBody(request.body);
    return applyPlan(engine, callOf(request), parameter(request, 'id'), textOf(body, 'approve'));
  });
  app.post('/api/config/apply', { bodyLimit }, async (request) => {
    const { desire } = await readDesire(reader, request);
    if (queryOf(request)['dryRun'] === 'true')
      return { plan: await createPlan(engine, callOf(request), desire), revision: null };
    return applyNow(engine, callOf(request), desire);
  });
}
