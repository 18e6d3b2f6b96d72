import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AgentRequest } from '../../features/peers/peering.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { parseBody } from '../input/bodies.ts';

/** Maximum size of a body from an agent, in bytes. */
export const bodyLimit = 256 * 1024;

/** Bytes of the bodies. Proofs sign these bytes. */
const bodies = new WeakMap<FastifyRequest, Uint8Array>();

/** Keeps the bytes of each body in addition to the parsed value, because proofs sign bytes. */
export function keepBytes(scope: FastifyInstance): void {
  scope.removeContentTypeParser('application/json');
  scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    // With `parseAs: 'buffer'` it is a Buffer.
    const buffer = bytes as Buffer;
    bodies.set(request, buffer);
    try {
      done(null, buffer.length === 0 ? undefined : parseBody(buffer));
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

/** Converts a request to the form that the peering service takes. */
export function agentRequest(request: FastifyRequest): AgentRequest {
  const proof = request.headers['heddle-proof'];
  const { authorization } = request.headers;
  return {
    method: request.method,
    path: request.url,
    body: bodies.get(request) ?? new Uint8Array(),
    // A body that is an object was parsed from JSON.
    ...(isObject(request.body) ? { content: request.body as JsonObject } : {}),
    proof: typeof proof === 'string' ? proof : undefined,
    authorization,
    address: request.ip,
  };
}
