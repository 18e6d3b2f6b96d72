import Fastify, { type FastifyInstance } from 'fastify';
import { drainConnections } from './drain.ts';

/**
 * Creates a server that is healthy but never ready: it answers requests with 503 and the reason, so that it receives no
 * traffic.
 */
export function createUnready(reason: string): FastifyInstance {
  const app = Fastify({ logger: false, forceCloseConnections: 'idle' });
  drainConnections(app);
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.setNotFoundHandler((_request, reply) => reply.code(503).send({ message: reason, code: 503 }));
  return app;
}
