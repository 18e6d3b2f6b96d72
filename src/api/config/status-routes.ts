import type { FastifyInstance } from 'fastify';
import { rotateSecrets } from '../../engine/secrets.ts';
import { accountStatus } from '../../engine/status.ts';
import { callOf } from '../authenticate.ts';
import type { ConfigRoutesOptions } from './options.ts';

/** The routes about the account as a whole. */
export function addStatusRoutes(app: FastifyInstance, { engine, version }: ConfigRoutesOptions): void {
  app.get('/api/config/status', async (request) => accountStatus(engine, callOf(request), version));
  app.post('/api/config/secrets/rotate', async () => rotateSecrets(engine));
}
