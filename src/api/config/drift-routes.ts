import type { FastifyInstance } from 'fastify';
import { reportDrift } from '../../features/config/history/drift.ts';
import { callOf } from '../authenticate.ts';
import type { ConfigRoutesOptions } from './options.ts';
import { queryOf } from './request.ts';

/** The route by which differences from what is stated are read. */
export function addDriftRoutes(app: FastifyInstance, { engine }: ConfigRoutesOptions): void {
  app.get('/api/config/drift', async (request) => reportDrift(engine, callOf(request), queryOf(request)['source']));
}
