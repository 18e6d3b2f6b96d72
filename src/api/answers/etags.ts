import type { FastifyInstance } from 'fastify';
import { runNowOrInSlices } from '../../commit/slices.ts';
import { etagInSteps, isNotModified } from './answers.ts';

/**
 * Adds an ETag to answers of reads that have none. An answer with `no-store` only has the ETag that its route gave it.
 */
export function addEtags(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const isRead = request.method === 'GET' && reply.statusCode === 200 && typeof payload === 'string';
    if (!isRead) return payload;
    const given = reply.getHeader('etag');
    if (given === undefined && reply.getHeader('cache-control') === 'no-store') return payload;
    const etag = given === undefined ? await runNowOrInSlices(etagInSteps(0, payload)) : String(given);
    void reply.header('etag', etag);
    if (!isNotModified(request, etag)) return payload;
    void reply.code(304).removeHeader('content-length');
    return null;
  });
}
