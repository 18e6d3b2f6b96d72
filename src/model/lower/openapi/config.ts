import type { JsonObject } from '../../../lib/json.ts';
import { accountItems } from './account.ts';
import { archiveItems } from './archive.ts';
import { header, type Operation, operation, pathParameters } from './operation.ts';
import { sourceItems } from './sources.ts';

function parameterOf(): JsonObject {
  return { description: 'The name of the source.', schema: { type: 'string' } };
}

/** The path items that belong to no kind: documents, plans, and history. */
export const configPaths: JsonObject = Object.fromEntries(
  Object.entries({
    ...accountItems,
    ...archiveItems,
    ...sourceItems,
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

/** An archive is re-created for everybody who asks. */
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
