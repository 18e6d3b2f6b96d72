import type { JsonObject } from '../../lib/json.ts';
import { accessItems } from './openapi-access.ts';
import { accountItems } from './openapi-account.ts';
import { archiveItems } from './openapi-archive.ts';
import { driftItems } from './openapi-drift.ts';
import { objectItems } from './openapi-objects.ts';
import { header, type Operation, operation, pathParameters } from './openapi-operation.ts';
import { overrideItems } from './openapi-overrides.ts';
import { planItems } from './openapi-plans.ts';
import { revisionItems } from './openapi-revisions.ts';
import { serverItems } from './openapi-server.ts';
import { sourceItems } from './openapi-sources.ts';

function parameterOf(name: string): JsonObject {
  if (name === 'name') return { description: 'The name of the source.', schema: { type: 'string' } };
  return name === 'n'
    ? { description: 'The number of the revision.', schema: { type: 'integer', minimum: 1 } }
    : { description: 'The id of the stored plan.', schema: { type: 'string' } };
}

/** The path items that belong to no kind: documents, plans, history, and the server itself. */
export const configPaths: JsonObject = Object.fromEntries(
  Object.entries({
    ...planItems,
    ...accountItems,
    ...archiveItems,
    ...accessItems,
    ...driftItems,
    ...overrideItems,
    ...objectItems,
    ...sourceItems,
    ...revisionItems,
    ...serverItems,
  }).map(([path, item]) => [
    path,
    {
      ...pathParameters(path, parameterOf),
      ...Object.fromEntries(
        Object.entries(item).map(([method, spec]) => [
          method,
          operation(method === 'get' && !isArchive(spec) ? cached(spec) : spec),
        ]),
      ),
    },
  ]),
);

/** An archive is made anew for everybody who asks. */
function isArchive({ answer }: Operation): boolean {
  return answer?.['application/gzip'] !== undefined;
}

/** What is read carries an ETag. */
function cached(spec: Operation): Operation {
  if (spec.uncached === true) return spec;
  const { parameters = [], headers = [] } = spec;
  return {
    ...spec,
    parameters: [...parameters, header('IfNoneMatch')],
    headers: ['ETag', ...headers],
    unchanged: true,
  };
}
