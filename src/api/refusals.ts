import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorBody } from './errors.ts';

/** The body of a refusal that no exception stands behind. */
export function errorBody(code: number, message: string): ErrorBody {
  return { message, code };
}

/** Refuses paths that nothing is at, before a body is looked at. Says the same of an id that cannot be one. */
export function refuseUnknownPaths(app: FastifyInstance): void {
  app.setNotFoundHandler(refuseUnknown);
  app.addHook('onRequest', async (request, reply) =>
    request.is404 && request.refused === undefined ? refuseUnknown(request, reply) : undefined,
  );
}

/** The answer to a path that nothing is at. */
export function refuseUnknown(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = (request.url.split('?')[0] ?? '').slice(0, 200);
  return reply.code(404).send(errorBody(404, `${request.method} ${path} not found`));
}
