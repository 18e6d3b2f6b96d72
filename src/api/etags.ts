import type { FastifyInstance } from 'fastify';
import { etagOf, isKnown } from './answers.ts';

/** Gives an ETag to what is read and has none yet; an answer that may be read once only has none. */
export function addEtags(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const isRead = request.method === 'GET' && reply.statusCode === 200 && typeof payload === 'string';
    if (!isRead || reply.hasHeader('etag') || reply.getHeader('cache-control') === 'no-store') return payload;
    const etag = etagOf(0, payload);
    void reply.header('etag', etag);
    if (!isKnown(request, etag)) return payload;
    void reply.code(304).removeHeader('content-length');
    return null;
  });
}
