import type { FastifyInstance } from 'fastify';
import { runInSlices } from '../../commit/slices.ts';
import { writeInSteps } from '../../documents/write.ts';
import { exportInSteps } from '../../features/config/archive/export.ts';
import { jsonInSteps } from '../../lib/json-steps.ts';
import { NotFound } from '../../model/errors.ts';
import { findObject } from '../../objects/find-object.ts';
import { readableBy } from '../../objects/object-list.ts';
import { etagInSteps } from '../answers/answers.ts';
import { callOf } from '../authenticate.ts';
import type { ConfigRoutesOptions } from './options.ts';
import { knownKind, queryOf, switchOf, wholeNumber, wordOf } from './request.ts';

/** The route by which the account is read as documents. */
export function addExportRoutes(app: FastifyInstance, { engine }: ConfigRoutesOptions): void {
  app.get('/api/config/export', async (request, reply) => {
    const query = queryOf(request);
    const { kind, source, object, revision } = query;
    const format = wordOf(query, 'format', ['yaml', 'json'] as const);
    knownKind(engine.registry, kind);
    const call = callOf(request);
    const present = await engine.snapshots.at(call.account, call.revision);
    const state =
      revision === undefined ? present : await engine.past.at(call.account, wholeNumber('revision', revision));
    const isVisible = readableBy(present, call);
    const filter = {
      ...(kind === undefined ? {} : { kind }),
      ...(source === undefined ? {} : { source }),
      ...(object === undefined ? {} : { id: findObject(state, object, isVisible).id }),
      isVisible,
      markAdopt: switchOf(query, 'markAdopt', false),
    };
    const documents = await runInSlices(exportInSteps(state, filter));
    if (object !== undefined && documents.length === 0)
      throw new NotFound(`document of ${object} not found; the server itself keeps it, and documents do not state it`);
    const isJson = format === 'json';
    const text = await runInSlices(isJson ? jsonInSteps(documents) : writeInSteps(documents));
    // The whole account is nothing for caches; a caller that has it may still ask whether it is the same.
    return reply
      .header('cache-control', 'no-store')
      .header('etag', await runInSlices(etagInSteps(0, text)))
      .header('content-type', `application/${isJson ? 'json' : 'yaml'}; charset=utf-8`)
      .send(text);
  });
}
