import type { FastifyRequest } from 'fastify';
import type { Call } from '../engine/engine.ts';
import type { Authenticator } from '../identity/authenticate.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** On whose behalf the request runs; set before the handler of every route that is not open. */
    call: Call | undefined;
  }
  interface FastifyContextConfig {
    /** The route wants no credentials. */
    open?: boolean;
  }
}

/** Authenticates every request but those of open routes; unknown paths were refused before. */
export function createAuthHook(authenticator: Authenticator) {
  return async (request: FastifyRequest): Promise<void> => {
    if (request.routeOptions.config.open === true) return;
    request.call = await authenticator.authenticate(request.headers.authorization);
  };
}

/** The call of an authenticated request. */
export function callOf(request: FastifyRequest): Call {
  if (request.call === undefined) throw new Error(`the route ${request.routeOptions.url} runs without authentication`);
  return request.call;
}
