import type { JsonObject } from '../../lib/json.ts';
import { json, listOf, named, type Operation, operation, pathParameters, query } from './openapi-operation.ts';

const tag = 'config';
const common = [401, 403, 429, 503];

const source = query('source', 'The source on whose behalf the documents are stated; `source` of the body wins.');
const prune = query(
  'prune',
  'Whether objects of the source that no document states any more are deleted. On unless said otherwise.',
  { type: 'boolean' },
);
const dryRun = query('dryRun', 'Whether nothing is written.', { type: 'boolean' });

/** Documents: files with their paths, or one YAML text, whose problems name the file `-`. */
const documents: JsonObject = {
  ...json(named('DocumentFiles'), {
    source: 'cli',
    files: [
      {
        path: 'groups.yaml',
        text: 'apiVersion: heddle.dev/v1\nkind: Group\nmetadata:\n  name: developers\nspec: {}\n',
      },
    ],
  }),
  'application/yaml': { schema: { type: 'string' } },
};
const yaml = { 'application/yaml': { schema: { type: 'string' } } };
const plain = { 'text/plain': { schema: { type: 'string' } } };

type Item = Readonly<Record<string, Operation>>;

const planItems: Readonly<Record<string, Item>> = {
  '/api/config/validate': {
    post: {
      ...{
        id: 'validateDocuments',
        tag,
        summary: 'Check documents',
        description: 'Reads, checks and resolves; the store is left alone.',
      },
      ...{
        parameters: [source],
        body: documents,
        answer: json(named('Validation')),
        errors: [400, ...common, 413, 415, 422],
      },
    },
  },
  '/api/config/plans': {
    post: {
      ...{
        id: 'createPlan',
        tag,
        summary: 'Plan documents',
        description: 'Computes and stores what applying the documents would do.',
      },
      ...{
        parameters: [source, prune],
        body: documents,
        answer: json(named('Plan')),
        status: 201,
        errors: [400, ...common, 409, 413, 415, 422],
      },
    },
  },
  '/api/config/plans/{id}': {
    get: { id: 'readPlan', tag, summary: 'Read a stored plan', answer: json(named('Plan')), errors: [...common, 404] },
  },
  '/api/config/plans/{id}/apply': {
    post: {
      ...{
        id: 'applyPlan',
        tag,
        summary: 'Apply a stored plan',
        description: 'Does what the plan said, or refuses because the account moved.',
      },
      ...{ answer: json(named('Applied')), errors: [...common, 404, 409, 412, 423, 428] },
    },
  },
  '/api/config/apply': {
    post: {
      ...{
        id: 'applyDocuments',
        tag,
        summary: 'Plan and apply documents',
        description: 'All documents become one revision, or nothing changes.',
      },
      ...{
        parameters: [source, prune, dryRun],
        body: documents,
        answer: json(named('Applied')),
        errors: [400, ...common, 409, 413, 415, 422, 423, 428],
      },
    },
  },
};

const historyItems: Readonly<Record<string, Item>> = {
  '/api/config/export': {
    get: {
      ...{
        id: 'exportDocuments',
        tag,
        summary: 'Export the account as documents',
        description: 'Applying the answer changes nothing.',
      },
      parameters: [query('kind', 'Only objects of this kind.'), query('source', 'Only objects of this source.')],
      ...{ answer: yaml, errors: [...common, 422] },
    },
  },
  '/api/config/sources': {
    get: { id: 'listSources', tag, summary: 'List sources', answer: json(listOf('Source')), errors: common },
  },
  '/api/config/revisions': {
    get: {
      id: 'listRevisions',
      tag,
      summary: 'List revisions, newest first',
      answer: json(listOf('Revision')),
      errors: common,
    },
  },
  '/api/config/revisions/{n}': {
    get: {
      id: 'readRevision',
      tag,
      summary: 'Read a revision with its changes',
      answer: json(named('RevisionWithChanges')),
      errors: [...common, 404],
    },
  },
  '/api/config/status': {
    get: {
      id: 'readStatus',
      tag,
      summary: 'Say how the account and its sources stand',
      answer: json(named('Status')),
      errors: common,
    },
  },
};

const serverItems: Readonly<Record<string, Item>> = {
  '/healthz': {
    get: {
      id: 'readHealth',
      tag: 'server',
      summary: 'Say that the process answers',
      answer: plain,
      open: true,
      errors: [],
    },
  },
  '/readyz': {
    get: {
      id: 'readReadiness',
      tag: 'server',
      summary: 'Say whether requests can be served',
      answer: plain,
      open: true,
      errors: [503],
    },
  },
  '/metrics': {
    get: {
      id: 'readMetrics',
      tag: 'server',
      summary: 'Read measurements for Prometheus',
      answer: plain,
      errors: [401, 403],
    },
  },
  '/api/openapi.json': {
    get: {
      id: 'readOpenApi',
      tag: 'server',
      summary: 'Read this document',
      answer: json({ type: 'object' }),
      errors: [401, 403, 429],
    },
  },
};

function parameterOf(name: string): JsonObject {
  return name === 'n'
    ? { description: 'The number of the revision.', schema: { type: 'integer', minimum: 1 } }
    : { description: 'The id of the stored plan.', schema: { type: 'string' } };
}

/** The path items that belong to no kind: documents, plans, history, and the server itself. */
export const configPaths: JsonObject = Object.fromEntries(
  Object.entries({ ...planItems, ...historyItems, ...serverItems }).map(([path, item]) => [
    path,
    {
      ...pathParameters(path, parameterOf),
      ...Object.fromEntries(Object.entries(item).map(([method, spec]) => [method, operation(spec)])),
    },
  ]),
);
