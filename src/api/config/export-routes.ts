import type { FastifyInstance } from 'fastify';
import { writeDocuments } from '../../documents/write.ts';
import { exportDocuments } from '../../engine/export.ts';
import { callOf } from '../authenticate.ts';
import type { ConfigRoutesOptions } from './options.ts';
import { knownKind, queryOf, wholeNumber } from './request.ts';

/** The route by which the account is read as documents. */
export function addExportRoutes(app: FastifyInstance, { engine }: ConfigRoutesOptions): void {
  app.get('/api/config/export', async (request, reply) => {
    const { kind, source, format, revision, markAdopt } = queryOf(request);
    knownKind(engine.registry, kind);
    const call = callOf(request);
    const present = await engine.snapshots.at(call.account, call.revision);
    const state =
      revision === undefined ? present : await engine.past.at(call.account, wholeNumber('revision', revision));
    const documents = exportDocuments(state, {
      ...(kind === undefined ? {} : { kind }),
      ...(source === undefined ? {} : { source }),
      markAdopt: markAdopt === 'true',
    });
    if (format === 'json') return documents;
    return reply.header('content-type', 'application/yaml; charset=utf-8').send(writeDocuments(documents));
  });
}
