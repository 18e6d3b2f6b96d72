import type { FastifyReply } from 'fastify';
import type { Call, Engine } from '../../commit/engine.ts';
import { runInSlices } from '../../commit/slices.ts';
import { writeDocumentsInSteps } from '../../documents/write.ts';
import { type ExportedDocument, exportDocumentsInSteps } from '../../features/config/archive/export.ts';
import { resourceOf } from '../../features/config/archive/resources.ts';
import { jsonInSteps } from '../../lib/steps.ts';
import { InvalidInput, NotFound } from '../../model/errors.ts';
import type { InputOf } from '../../model/operation/operation.ts';
import { findObject } from '../../objects/find-object.ts';
import { createKindReadCheck } from '../../objects/object-list.ts';
import type { archive } from '../../operations/config/archive.ts';
import { etagInSteps } from '../answers/answers.ts';
import { requireKnownKind } from './known-kind.ts';

type Query = InputOf<typeof archive.export>['query'];

/**
 * Sends the objects of the account as documents. Throws `InvalidInput` or `NotFound` when the query names something
 * unknown.
 */
export async function sendExport(engine: Engine, call: Call, query: Query, reply: FastifyReply): Promise<FastifyReply> {
  const { kind, source, object, revision, markAdopt, format, namespace } = query;
  if (namespace !== undefined && format !== 'kubernetes')
    throw new InvalidInput('`namespace` is only for Kubernetes resources; request them with format=kubernetes.');
  requireKnownKind(engine.registry, kind);
  const present = await engine.snapshots.atLeast(call.account, call.revision);
  const state = revision === undefined ? present : await engine.pastStates.at(call.account, revision);
  const isVisible = createKindReadCheck(present, call);
  const filter = {
    ...(kind === undefined ? {} : { kind }),
    ...(source === undefined ? {} : { source }),
    ...(object === undefined ? {} : { id: findObject(state, object, isVisible).id }),
    ...{ isVisible, markAdopt },
  };
  const documents = await runInSlices(exportDocumentsInSteps(state, filter));
  if (object !== undefined && documents.length === 0)
    throw new NotFound(
      `document of ${object} not found; the server manages this object itself, and documents do not state it`,
    );
  const text = await runInSlices(textInSteps(documents, format, namespace));
  // Caches must not store a whole account, but a caller that has it may still ask whether it has changed.
  return reply
    .header('cache-control', 'no-store')
    .header('etag', await runInSlices(etagInSteps(0, text)))
    .header('content-type', `application/${format === 'json' ? 'json' : 'yaml'}; charset=utf-8`)
    .send(text);
}

function textInSteps(
  documents: readonly ExportedDocument[],
  format: Query['format'],
  namespace: string | undefined,
): Generator<undefined, string> {
  switch (format) {
    case 'json':
      return jsonInSteps(documents);
    case 'yaml':
      return writeDocumentsInSteps(documents);
    case 'kubernetes':
      return writeDocumentsInSteps(documents.map((document) => resourceOf(document, namespace)));
  }
}
