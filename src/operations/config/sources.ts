import type { Json, JsonObject } from '../../lib/json.ts';
import { count, nullable, optional, time } from '../../model/operation/fields.ts';
import { defineOperation } from '../../model/operation/operation.ts';
import { problem } from '../../model/operation/problem-field.ts';
import {
  boolean,
  type Field,
  integer,
  json,
  list,
  mapOf,
  type Optional,
  object,
  oneOf,
  string,
  type ValueOf,
} from '../../model/schema/field.ts';
import { apiSchemas, type GitConfig, gitMembers } from '../../model/sources/schema.ts';
import { conflictModes } from '../../model/sources/settings.ts';
import { conditionStatuses, conditionTypes, sourceStates } from '../../model/sources/status.ts';

const condition = object(
  {
    type: oneOf(conditionTypes, { doc: 'What.' }),
    status: oneOf(conditionStatuses, { doc: 'Whether it is so.' }),
    reason: string({ doc: 'Why, in one word.' }),
    message: string({ doc: 'Why, in a sentence.' }),
    lastTransitionTime: time({ doc: 'Since when.' }),
    observedGeneration: count({ doc: 'The settings that it was found under.' }),
  },
  { doc: 'Something that is so, or is not.' },
);

const attempt = object(
  {
    digest: string({ doc: 'What was applied.' }),
    commit: optional(string({ doc: 'Its commit, where there are commits.' })),
    result: string({ doc: 'The state that it led to.' }),
    message: string({ doc: 'What happened.' }),
    revision: optional(count({ doc: 'The revision that it made.' })),
    at: time({ doc: 'When.' }),
  },
  { doc: 'How an attempt ended.' },
);

const status = object(
  {
    state: optional(oneOf(sourceStates, { doc: 'In one word.' })),
    message: optional(string({ doc: 'In a sentence.' })),
    conditions: optional(list(condition, { doc: 'What is so, and since when.' })),
    observedGeneration: optional(count({ doc: 'The settings under which it was reconciled last.' })),
    observedRevision: optional(count({ doc: 'The revision of the account that it was compared with last.' })),
    observedDigest: optional(string({ doc: 'What it held then.' })),
    observedCommit: optional(string({ doc: 'The commit of that.' })),
    lastAttemptedRevision: optional(
      count({ doc: 'The revision of the account at the last attempt to apply something.' }),
    ),
    lastAttemptedDigest: optional(string({ doc: 'What it was tried to apply.' })),
    lastAppliedRevision: optional(count({ doc: 'The revision that applying made last.' })),
    lastAppliedAt: optional(time({ doc: 'When.' })),
    lastAppliedDigest: optional(string({ doc: 'What is applied.' })),
    lastAppliedCommit: optional(string({ doc: 'The commit of that.' })),
    lastAppliedUids: optional(string({ doc: 'Ids of the namespace and the definitions of that, in a cluster.' })),
    lastAppliedVersion: optional(
      string({ doc: 'How far the store of that cluster had come; `lost` once it was found to be set back.' }),
    ),
    planDigest: optional(string({ doc: 'Of the plan that waits for an approval.' })),
    planId: optional(string({ doc: 'The id of that plan.' })),
    problems: optional(list(problem, { doc: 'What is wrong with its documents, at most 100.' })),
    heldBack: optional(count({ doc: 'How many of its files were held back because of problems then.' })),
    inventory: optional(
      mapOf(integer({ doc: '' }), { doc: 'How many objects of each kind it states something about.' }),
    ),
    drifted: optional(count({ doc: 'How many stated values were different in the account then.' })),
    history: optional(list(attempt, { doc: 'The last ten attempts that ended differently, newest first.' })),
    nextRunAt: optional(time({ doc: 'When it will be reconciled without any reason, as of the last record.' })),
    lastHandledReconcileAt: optional(time({ doc: 'The newest request to reconcile that was heeded.' })),
  },
  { doc: 'How a source fares; empty for one that only pushes.', schema: 'SourceStatus' },
);

/** Settings of sources. The settings file has the same ones, so both share one set of JSON Schemas. */
const settings = Object.fromEntries(
  Object.entries(gitMembers).map(([name, schema]) => [name, optional(json(schema as JsonObject, { doc: '' }))]),
  // The keys of `gitMembers` are the members of a Git source.
) as Readonly<Record<keyof GitConfig, Field<Json> & Optional>>;

/** Field: a source with its status, as responses show it. */
export const source = object(
  {
    ...settings,
    path: optional(string({ doc: 'The directory of the documents: on the server, or within the repository.' })),
    cluster: optional(string({ doc: 'The name of the Kubernetes cluster that it is in.' })),
    namespace: optional(string({ doc: 'The namespace of that cluster that it is.' })),
    requested: optional(
      object(
        {
          suspend: optional(boolean({ doc: 'That it is suspended.' })),
          conflictMode: optional(oneOf(conflictModes, { doc: 'Another conflict mode.' })),
        },
        { doc: 'What its resource `Source` in the cluster asks for.' },
      ),
    ),
    id: string({ doc: 'Its name.' }),
    type: string({
      doc: 'What it is: `directory`, `git`, `kubernetes`, or `push` for one that only ever comes through the API.',
    }),
    managedBy: optional(
      oneOf(['server', 'api'], { doc: 'Who says what it is: the configuration of a server, or the API.' }),
    ),
    suspended: boolean({ doc: 'Whether its loop is stopped.' }),
    generation: count({ doc: 'How often its settings have changed.' }),
    status,
    objects: count({ doc: 'About how many objects it states something.' }),
    overrides: optional(
      object(
        { units: count({ doc: 'How many units.' }), until: time({ doc: 'When the last of them returns.' }) },
        { doc: 'The running overrides of its objects.' },
      ),
    ),
  },
  { doc: 'Something that declares documents for the account, with its settings.', schema: 'Source' },
);

/** Source with its status. */
export type Source = ValueOf<typeof source>;

const end = object(
  {
    revision: nullable(
      integer({
        doc: 'The revision that let go of its objects; `null` when there was nothing to let go of.',
      }),
    ),
    released: count({ doc: 'How many objects it let go of.' }),
    shared: count({ doc: 'How many of them other sources go on stating or owning.' }),
    reconciled: list(string({ doc: '' }), {
      doc: 'The sources that it was in the way of, which are reconciled now.',
    }),
    deleted: count({ doc: 'How many objects were deleted.' }),
  },
  { doc: 'What letting go of a source, or deleting it, came to.', schema: 'SourceEnd' },
);

/** Result of releasing or deleting a source. */
export type SourceEnd = ValueOf<typeof end>;

/** Source, for examples. */
export const sourceExample = {
  ...{ id: 'office', type: 'directory', path: '/etc/heddle/office', managedBy: 'server' },
  ...{ suspended: false, generation: 1 },
  status: { state: 'applied', message: 'source office: 15 documents, nothing to do' },
  objects: 22,
};

const git = {
  ...{ name: 'network', type: 'git', url: 'https://git.example.com/mesh/network.git' },
  ...{ branch: 'main', path: 'config', interval: '10m' },
};
const changed = { ...git, conflictMode: 'correct', scope: { kinds: ['Group', 'Policy'] } };
const endExample = { revision: 19, released: 22, shared: 2, deleted: 0, reconciled: ['office'] };

const path = '/api/config/sources';
const one = `${path}/{name}` as const;
const params = { name: string({ doc: 'The name of the source.' }) };
const bodySchema = 'SourceRequest';
const bodyUnion = { by: 'type', of: apiSchemas, doc: 'What a source is to be.' };
const update = { module: 'config', operation: 'update' } as const;

/** Operations on sources. */
export const sources = {
  list: defineOperation({
    id: 'listSources',
    method: 'GET',
    path,
    access: { module: 'config', operation: 'read' },
    summary: 'List sources',
    answer: list(source, { doc: '' }),
    example: { answer: [sourceExample] },
  }),
  create: defineOperation({
    id: 'createSource',
    method: 'POST',
    path,
    access: { module: 'config', operation: 'create' },
    summary: 'Make a source',
    doc: 'A Git repository, which the servers follow from then on, or the settings of documents that are pushed. Directories are named by the configuration of a server.',
    ...{ bodySchema, bodyUnion },
    answer: source,
    status: 201,
    errors: ['conflict'],
    example: { body: git, answer: { ...sourceExample, ...git, managedBy: 'api' } },
  }),
  read: defineOperation({
    id: 'readSource',
    method: 'GET',
    path: one,
    params,
    access: { module: 'config', operation: 'read' },
    summary: 'Read a source and how it fares',
    answer: source,
    example: { answer: sourceExample },
  }),
  replace: defineOperation({
    id: 'replaceSource',
    method: 'PUT',
    path: one,
    params,
    access: update,
    summary: 'Give a source other settings',
    doc: 'What is left out returns to its default. Sources of the configuration of a server are changed there.',
    ...{ bodySchema, bodyUnion },
    answer: source,
    errors: ['conflict'],
    example: { body: changed, answer: { ...sourceExample, ...changed, managedBy: 'api' } },
  }),
  delete: defineOperation({
    id: 'deleteSource',
    method: 'DELETE',
    path: one,
    params,
    access: { module: 'config', operation: 'delete' },
    summary: 'Delete a source',
    doc: 'Its objects stay and belong to nobody, or are deleted with it, as its settings or `objects` say.',
    query: {
      objects: optional(oneOf(['orphan', 'prune'], { doc: 'What becomes of its objects.' })),
      approve: optional(string({ doc: 'The digest of the plan that deletes them, when a guard stopped it.' })),
    },
    answer: end,
    errors: ['conflict', 'approval'],
    example: { answer: endExample },
  }),
  reconcile: defineOperation({
    id: 'reconcileSource',
    method: 'POST',
    path: `${one}/reconcile`,
    params,
    access: update,
    summary: 'Reconcile a source now',
    doc: 'Answers at once; whichever server runs the source begins within a second.',
    answer: object(
      { requestedAt: time({ doc: 'When.' }) },
      { doc: 'A request that was written down.', schema: 'ReconcileRequest' },
    ),
    status: 202,
    errors: ['conflict'],
    example: { answer: { requestedAt: '2026-01-02T03:04:05.000Z' } },
  }),
  suspend: defineOperation({
    id: 'suspendSource',
    method: 'POST',
    path: `${one}/suspend`,
    params,
    access: update,
    summary: 'Stop the loop of a source',
    doc: 'A reconcile that is running completes. What documents state stays theirs meanwhile.',
    answer: source,
    example: { answer: { ...sourceExample, suspended: true } },
  }),
  resume: defineOperation({
    id: 'resumeSource',
    method: 'POST',
    path: `${one}/resume`,
    params,
    access: update,
    summary: 'Let a suspended source run again',
    answer: source,
    example: { answer: sourceExample },
  }),
  detach: defineOperation({
    id: 'detachSource',
    method: 'POST',
    path: `${one}/detach`,
    params,
    access: update,
    summary: 'Let go of everything that a source states',
    doc: 'Objects stay as they are; those that no other source states belong to nobody. The source is suspended; resumed, it takes them back. Sources that it was in the way of are reconciled at once.',
    answer: end,
    errors: ['conflict'],
    example: { answer: endExample },
  }),
};
