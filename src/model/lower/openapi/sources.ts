import type { JsonObject } from '../../../lib/json.ts';
import { apiSchemas, gitMembers } from '../../sources/schema.ts';
import { conditionStatuses, conditionTypes, sourceStates } from '../../sources/status.ts';
import { configExamples } from './config-examples.ts';
import { type Items, json, listOf, named, query } from './operation.ts';
import { count, object, text, time, words } from './words.ts';

const tag = 'config';
const common = [401, 403, 429, 503];
const writing = [400, 404, 409, 413, 415, 422];
const { source, gitSource, changedSource, sourceEnd } = configExamples;

/** The endpoints about sources. */
export const sourceItems: Items = {
  '/api/config/sources': {
    get: {
      id: 'listSources',
      tag,
      summary: 'List sources',
      answer: json(listOf('Source'), configExamples.sources),
      errors: common,
    },
    post: {
      id: 'createSource',
      tag,
      summary: 'Make a source',
      description:
        'A Git repository, which the servers follow from then on, or the settings of documents that are pushed. Directories are named by the configuration of a server.',
      body: json(named('SourceRequest'), gitSource),
      answer: json(named('Source'), { ...source, ...gitSource, managedBy: 'api' }),
      status: 201,
      errors: [...common, 400, 409, 413, 415, 422],
    },
  },
  '/api/config/sources/{name}': {
    get: {
      id: 'readSource',
      tag,
      summary: 'Read a source and how it fares',
      answer: json(named('Source'), source),
      errors: [...common, 404],
    },
    put: {
      id: 'replaceSource',
      tag,
      summary: 'Give a source other settings',
      description:
        'What is left out returns to its default. Sources of the configuration of a server are changed there.',
      body: json(named('SourceRequest'), changedSource),
      answer: json(named('Source'), { ...source, ...changedSource, managedBy: 'api' }),
      errors: [...common, ...writing],
    },
    delete: {
      id: 'deleteSource',
      tag,
      summary: 'Delete a source',
      description: 'Its objects stay and belong to nobody, or are deleted with it, as its settings or `objects` say.',
      parameters: [
        query('objects', 'What becomes of its objects.', { type: 'string', enum: ['orphan', 'prune'] }),
        query('approve', 'The digest of the plan that deletes them, when a guard stopped it.'),
      ],
      answer: json(named('SourceEnd'), sourceEnd),
      errors: [...common, 404, 409, 422, 423, 428],
    },
  },
  '/api/config/sources/{name}/reconcile': {
    post: {
      id: 'reconcileSource',
      tag,
      summary: 'Reconcile a source now',
      description: 'Answers at once; whichever server runs the source begins within a second.',
      answer: json(named('ReconcileRequest'), { requestedAt: '2026-01-02T03:04:05.000Z' }),
      status: 202,
      errors: [...common, 404, 409],
    },
  },
  '/api/config/sources/{name}/suspend': {
    post: {
      id: 'suspendSource',
      tag,
      summary: 'Stop the loop of a source',
      description: 'A reconcile that is running completes. What documents state stays theirs meanwhile.',
      answer: json(named('Source'), { ...source, suspended: true }),
      errors: [...common, 404],
    },
  },
  '/api/config/sources/{name}/resume': {
    post: {
      id: 'resumeSource',
      tag,
      summary: 'Let a suspended source run again',
      answer: json(named('Source'), source),
      errors: [...common, 404],
    },
  },
  '/api/config/sources/{name}/detach': {
    post: {
      id: 'detachSource',
      tag,
      summary: 'Let go of everything that a source states',
      description:
        'Objects stay as they are; those that no other source states belong to nobody. The source is suspended; resumed, it takes them back. Sources that it was in the way of are reconciled at once.',
      answer: json(named('SourceEnd'), sourceEnd),
      errors: [...common, 404, 409, 423],
    },
  },
  '/api/config/sources/{name}/webhook': {
    post: {
      id: 'hintAtSource',
      tag,
      summary: 'Hint that a repository has a new commit',
      description:
        'For the host of the repository, with its signature (`X-Hub-Signature-256`, `X-Gitea-Signature`) or the secret itself (`X-Gitlab-Token`). Nothing in the body is believed.',
      parameters: [query('account', 'The account of the source; without it the account of this server.')],
      body: json({ type: 'object' }, { ref: 'refs/heads/main' }),
      answer: json({ type: 'object' }, {}),
      status: 202,
      open: true,
      errors: [401, 413, 429, 503],
    },
  },
};

const condition = object('Something that is so, or is not.', {
  type: words(conditionTypes, 'What.'),
  status: words(conditionStatuses, 'Whether it is so.'),
  reason: text('Why, in one word.'),
  message: text('Why, in a sentence.'),
  lastTransitionTime: time('Since when.'),
  observedGeneration: count('The settings that it was found under.'),
});

const attempt = object(
  'How an attempt ended.',
  {
    digest: text('What was applied.'),
    commit: text('Its commit, where there are commits.'),
    result: text('The state that it led to.'),
    message: text('What happened.'),
    revision: count('The revision that it made.'),
    at: time('When.'),
  },
  ['commit', 'revision'],
);

const statusMembers: JsonObject = {
  state: words(sourceStates, 'In one word.'),
  message: text('In a sentence.'),
  conditions: { type: 'array', items: condition, description: 'What is so, and since when.' },
  observedGeneration: count('The settings under which it was reconciled last.'),
  observedRevision: count('The revision of the account that it was compared with last.'),
  observedDigest: text('What it held then.'),
  observedCommit: text('The commit of that.'),
  lastAttemptedRevision: count('The revision of the account at the last attempt to apply something.'),
  lastAttemptedDigest: text('What it was tried to apply.'),
  lastAppliedRevision: count('The revision that applying made last.'),
  lastAppliedAt: time('When.'),
  lastAppliedDigest: text('What is applied.'),
  lastAppliedCommit: text('The commit of that.'),
  planDigest: text('Of the plan that waits for an approval.'),
  planId: text('The id of that plan.'),
  problems: { ...listOf('Problem'), description: 'What is wrong with its documents, at most 100.' },
  inventory: {
    type: 'object',
    description: 'How many objects of each kind it states something about.',
    additionalProperties: { type: 'integer' },
  },
  drifted: count('How many stated values were different in the account then.'),
  history: {
    type: 'array',
    items: attempt,
    description: 'The last ten attempts that ended differently, newest first.',
  },
  nextRunAt: time('When it will be reconciled without any reason, as of the last record.'),
  lastHandledReconcileAt: time('The newest request to reconcile that was heeded.'),
};

/** The schemas of what they take and answer. */
export const sourceSchemas: JsonObject = {
  Source: object(
    'Something that declares documents for the account, with its settings.',
    {
      ...gitMembers,
      path: text('The directory of the documents: on the server, or within the repository.'),
      id: text('Its name.'),
      type: text('What it is: `directory`, `git`, or `push` for one that only ever comes through the API.'),
      managedBy: words(['server', 'api'], 'Who says what it is: the configuration of a server, or the API.'),
      suspended: { type: 'boolean', description: 'Whether its loop is stopped.' },
      generation: count('How often its settings have changed.'),
      status: named('SourceStatus'),
      objects: count('About how many objects it states something.'),
      overrides: object('The running overrides of its objects.', {
        units: count('How many units.'),
        until: time('When the last of them returns.'),
      }),
    },
    ['managedBy', 'path', 'overrides', ...Object.keys(gitMembers)],
  ),
  SourceStatus: object(
    'How a source fares; empty for one that only pushes.',
    statusMembers,
    Object.keys(statusMembers),
  ),
  SourceRequest: {
    description: 'What a source is to be.',
    oneOf: Object.values(apiSchemas),
  },
  SourceEnd: object('What letting go of a source, or deleting it, came to.', {
    revision: {
      type: ['integer', 'null'],
      description: 'The revision that let go of its objects; `null` when there was nothing to let go of.',
    },
    released: count('How many objects it let go of.'),
    shared: count('How many of them other sources go on stating or owning.'),
    reconciled: {
      type: 'array',
      items: { type: 'string' },
      description: 'The sources that it was in the way of, which are reconciled now.',
    },
    deleted: count('How many objects were deleted.'),
  }),
  ReconcileRequest: object('A request that was written down.', { requestedAt: time('When.') }),
};
