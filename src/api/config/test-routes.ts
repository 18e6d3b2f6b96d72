import type { FastifyInstance } from 'fastify';
import { testApply } from '../../features/config/access/test-results.ts';
import { callOf } from '../authenticate.ts';
import { readApplyRequest } from './apply-request.ts';
import { bodyLimit, type ConfigRoutesOptions } from './options.ts';

/** The routes by which access tests are run: on the account, or on what documents lead to. */
export function addTestRoutes(app: FastifyInstance, { engine, reader, planLimit }: ConfigRoutesOptions): void {
  const planning = {
    bodyLimit,
    onRequest: planLimit,
    config: { access: { module: 'config', operation: 'read' }, plans: true },
  } as const;
  app.post('/api/config/tests', planning, async (request, reply) => {
    const { applyRequest } = await readApplyRequest(reader, request, reply);
    return testApply(engine, callOf(request), applyRequest);
  });
}
