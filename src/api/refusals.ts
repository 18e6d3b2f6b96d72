import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorBody } from './errors.ts';

/** Returns the body of a refusal that no exception caused. */
export function errorBody(code: number, message: string): ErrorBody {
  return { message, code };
}

/** Answers 404 for unknown paths, before the body is read. The answer for an id that cannot exist is the same. */
export function refuseUnknownPaths(app: FastifyInstance): void {
  app.setNotFoundHandler(refuseUnknown);
  app.addHook('onRequest', (request, reply, next) => {
    if (request.is404 && request.refused === undefined) refuseUnknown(request, reply);
    else next();
  });
}

/** Answers 404 for an unknown path. */
export function refuseUnknown(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = (request.url.split('?')[0] ?? '').slice(0, 200);
  return reply.code(404).send(errorBody(404, `${request.method} ${path} not found`));
}
