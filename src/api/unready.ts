import Fastify, { type FastifyInstance } from 'fastify';
import { drainConnections } from './drain.ts';

/** A server that runs and answers every request with the reason why it is not ready, so that it gets no work. */
export function createUnready(reason: string): FastifyInstance {
  const app = Fastify({ logger: false, forceCloseConnections: 'idle' });
  drainConnections(app);
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.setNotFoundHandler((_request, reply) => reply.code(503).send({ message: reason, code: 503 }));
  return app;
}
