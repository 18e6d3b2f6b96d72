import type { FastifyInstance } from 'fastify';
import { sourceStatuses } from '../../engine/status.ts';
import { callOf } from '../authenticate.ts';
import type { ConfigRoutesOptions } from './options.ts';

/** The routes about sources. */
export function addSourceRoutes(app: FastifyInstance, { engine }: ConfigRoutesOptions): void {
  app.get('/api/config/sources', async (request) => sourceStatuses(engine, callOf(request)));
}
