import type { FastifyInstance } from 'fastify';
import { writeDocuments } from '../../documents/write.ts';
import { exportDocuments } from '../../engine/export.ts';
import { InvalidInput } from '../../model/errors.ts';
import { callOf } from '../authenticate.ts';
import type { ConfigRoutesOptions } from './options.ts';
import { queryOf } from './request.ts';

/** The route by which the account is read as documents. */
export function addExportRoutes(app: FastifyInstance, { engine }: ConfigRoutesOptions): void {
  app.get('/api/config/export', async (request, reply) => {
    const { kind, source, format } = queryOf(request);
    if (kind !== undefined && engine.registry.find(kind) === undefined)
      throw new InvalidInput(`unknown kind ${kind}; known are ${engine.registry.names.join(', ')}`);
    const { account, revision } = callOf(request);
    const state = await engine.snapshots.at(account, revision);
    const documents = exportDocuments(state, {
      ...(kind === undefined ? {} : { kind }),
      ...(source === undefined ? {} : { source }),
    });
    if (format === 'json') return documents;
    return reply.header('content-type', 'application/yaml; charset=utf-8').send(writeDocuments(documents));
  });
}
