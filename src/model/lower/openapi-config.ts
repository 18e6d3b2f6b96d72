import type { JsonObject } from '../../lib/json.ts';
import { json, listOf, named, type Operation, operation, pathParameters, query } from './openapi-operation.ts';

const tag = 'config';
const common = [401, 403, 429, 503];

const flag = { type: 'boolean' };
const source = query('source', 'For a YAML body: the source on whose behalf the documents are stated.');
const options = [
  source,
  query('prune', 'For a YAML body: as `prune` of a JSON body.', flag),
  query('allowEmpty', 'For a YAML body: as `allowEmpty` of a JSON body.', flag),
  query('approve', 'For a YAML body: as `approve` of a JSON body.'),
  query('expectDigest', 'For a YAML body: as `expectDigest` of a JSON body.'),
];
const dryRun = query('dryRun', 'Whether the plan is only stored and shown; `revision` is `null` then.', flag);

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
const plain = { 'text/plain': { schema: { type: 'string' } } };

type Item = Readonly<Record<string, Operation>>;

const planItems: Readonly<Record<string, Item>> = {
  '/api/config/validate': {
    post: {
      id: 'validateDocuments',
      tag,
      summary: 'Check documents',
      description: 'Reads, checks and resolves; the store is left alone.',
      parameters: [source],
      body: documents,
      answer: json(named('Validation')),
      errors: [400, ...common, 409, 412, 413, 415, 422],
    },
  },
  '/api/config/plans': {
    post: {
      id: 'createPlan',
      tag,
      summary: 'Plan documents',
      description: 'Computes and stores what applying the documents would do.',
      parameters: options,
      body: documents,
      answer: json(named('Plan')),
      status: 201,
      errors: [400, ...common, 409, 412, 413, 415, 422],
    },
  },
  '/api/config/plans/{id}': {
    get: { id: 'readPlan', tag, summary: 'Read a stored plan', answer: json(named('Plan')), errors: [...common, 404] },
  },
  '/api/config/plans/{id}/patch': {
    get: {
      id: 'readPlanPatch',
      tag,
      summary: 'Read a stored plan as JSON patches',
      description: 'One patch (RFC 6902) of the spec for each object that the plan changes.',
      answer: json(listOf('ObjectPatch')),
      errors: [...common, 404, 412],
    },
  },
  '/api/config/plans/{id}/apply': {
    post: {
      id: 'applyPlan',
      tag,
      summary: 'Apply a stored plan',
      description: 'Does what the plan said, or refuses because the account moved.',
      body: json(named('Approval')),
      optionalBody: true,
      answer: json(named('Applied')),
      errors: [400, ...common, 404, 409, 412, 423, 428],
    },
  },
  '/api/config/apply': {
    post: {
      id: 'applyDocuments',
      tag,
      summary: 'Plan and apply documents',
      description: 'All documents become one revision, or nothing changes.',
      parameters: [...options, dryRun],
      body: documents,
      answer: json(named('Applied')),
      errors: [400, ...common, 409, 412, 413, 415, 422, 423, 428],
    },
  },
};

const historyItems: Readonly<Record<string, Item>> = {
  '/api/config/export': {
    get: {
      id: 'exportDocuments',
      tag,
      summary: 'Export the account as documents',
      description: 'Applying the answer changes nothing.',
      parameters: [
        query('kind', 'Only objects of this kind.'),
        query('source', 'Only what this source states.'),
        query('format', 'The form of the answer.', { type: 'string', enum: ['yaml', 'json'] }),
      ],
      answer: {
        'application/yaml': { schema: { type: 'string' } },
        ...json({ type: 'array', items: { type: 'object' } }),
      },
      errors: [...common, 422],
    },
  },
  '/api/config/secrets/rotate': {
    post: {
      id: 'rotateSecrets',
      tag,
      summary: 'Seal all secrets again under the newest key',
      description: 'Says how many rows were written. Afterwards older keys are not needed any more.',
      answer: json({ type: 'object', required: ['rows'], properties: { rows: { type: 'integer' } } }),
      errors: common,
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
      parameters: [
        query('before', 'Only revisions before this one.', { type: 'integer', minimum: 1 }),
        query('limit', 'How many at most; 100 unless said otherwise.', { type: 'integer', minimum: 1, maximum: 1000 }),
      ],
      answer: json(listOf('Revision')),
      errors: [...common, 422],
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
      answer: json(named('Health')),
      open: true,
      errors: [],
    },
  },
  '/readyz': {
    get: {
      id: 'readReadiness',
      tag: 'server',
      summary: 'Say whether requests can be served',
      answer: json(named('Health')),
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
      errors: [401, 403, 503],
    },
  },
  '/docs': {
    get: {
      id: 'readReference',
      tag: 'server',
      summary: 'Read this document as a page',
      answer: { 'text/html': { schema: { type: 'string' } } },
      errors: common,
    },
  },
  '/api/openapi.json': {
    get: {
      id: 'readOpenApi',
      tag: 'server',
      summary: 'Read this document',
      answer: json({ type: 'object' }),
      errors: common,
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
