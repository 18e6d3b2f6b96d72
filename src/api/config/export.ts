import type { FastifyReply } from 'fastify';
import type { Call, Engine } from '../../commit/engine.ts';
import { runInSlices } from '../../commit/slices.ts';
import { writeInSteps } from '../../documents/write.ts';
import { type ExportedDocument, exportInSteps } from '../../features/config/archive/export.ts';
import { resourceOf } from '../../features/config/archive/resources.ts';
import { jsonInSteps } from '../../lib/steps.ts';
import { InvalidInput, NotFound } from '../../model/errors.ts';
import type { InputOf } from '../../model/operation/operation.ts';
import { findObject } from '../../objects/find-object.ts';
import { readableBy } from '../../objects/object-list.ts';
import type { archive } from '../../operations/config/archive.ts';
import { etagInSteps } from '../answers/answers.ts';
import { knownKind } from './known-kind.ts';

type Query = InputOf<typeof archive.export>['query'];

/**
 * Sends the objects of the account as documents. Throws `InvalidInput` or `NotFound` when the query names something
 * unknown.
 */
export async function sendExport(engine: Engine, call: Call, query: Query, reply: FastifyReply): Promise<FastifyReply> {
  const { kind, source, object, revision, markAdopt, format, namespace } = query;
  if (namespace !== undefined && format !== 'kubernetes')
    throw new InvalidInput('`namespace` is only for Kubernetes resources; request them with format=kubernetes.');
  knownKind(engine.registry, kind);
  const present = await engine.snapshots.at(call.account, call.revision);
  const state = revision === undefined ? present : await engine.past.at(call.account, revision);
  const isVisible = readableBy(present, call);
  const filter = {
    ...(kind === undefined ? {} : { kind }),
    ...(source === undefined ? {} : { source }),
    ...(object === undefined ? {} : { id: findObject(state, object, isVisible).id }),
    ...{ isVisible, markAdopt },
  };
  const documents = await runInSlices(exportInSteps(state, filter));
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
      return writeInSteps(documents);
    case 'kubernetes':
      return writeInSteps(documents.map((document) => resourceOf(document, namespace)));
  }
}
