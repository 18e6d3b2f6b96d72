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
import { apiSourceSchemas, type GitConfig, gitMembers } from '../../model/sources/schema.ts';
import { conflictModes } from '../../model/sources/settings.ts';
import { conditionStatuses, conditionTypes, sourceStates } from '../../model/sources/status.ts';

const condition = object(
  {
    type: oneOf(conditionTypes, { doc: 'What.' }),
    status: oneOf(conditionStatuses, { doc: 'Whether the condition is met.' }),
    reason: string({ doc: 'Reason in one word.' }),
    message: string({ doc: 'Why, in a sentence.' }),
    lastTransitionTime: time({ doc: 'Since when.' }),
    observedGeneration: count({ doc: 'Generation of the settings under which it was found.' }),
  },
  { doc: 'A condition of the source.' },
);

const attempt = object(
  {
    digest: string({ doc: 'Digest of the content.' }),
    commit: optional(string({ doc: 'Commit of the content, if the source has commits.' })),
    result: string({ doc: 'State of the source after the attempt.' }),
    message: string({ doc: 'What happened.' }),
    revision: optional(count({ doc: 'The revision that it made.' })),
    at: time({ doc: 'When.' }),
  },
  { doc: 'Result of an attempt to apply content.' },
);

const status = object(
  {
    state: optional(oneOf(sourceStates, { doc: 'State in one word.' })),
    message: optional(string({ doc: 'In a sentence.' })),
    conditions: optional(list(condition, { doc: 'Conditions, each with the time of its last change.' })),
    observedGeneration: optional(count({ doc: 'Generation of the settings under which it was last reconciled.' })),
    observedRevision: optional(count({ doc: 'Revision of the account with which it was last compared.' })),
    observedDigest: optional(string({ doc: 'Digest of its content at that time.' })),
    observedCommit: optional(string({ doc: 'Commit of that content.' })),
    lastAttemptedRevision: optional(
      count({ doc: 'The revision of the account at the last attempt to apply something.' }),
    ),
    lastAttemptedDigest: optional(string({ doc: 'Digest of the content of that attempt.' })),
    lastAppliedRevision: optional(count({ doc: 'Last revision that was made by applying it.' })),
    lastAppliedAt: optional(time({ doc: 'When.' })),
    lastAppliedDigest: optional(string({ doc: 'Digest of the applied content.' })),
    lastAppliedCommit: optional(string({ doc: 'Commit of the applied content.' })),
    lastAppliedUids: optional(
      string({
        doc: 'UIDs of the namespace and the custom resource definitions of the applied content, for a source in a cluster.',
      }),
    ),
    lastAppliedVersion: optional(
      string({
        doc: 'Version of the store of that cluster at that time; `lost` after the cluster was found to be restored to an earlier state.',
      }),
    ),
    planDigest: optional(string({ doc: 'Digest of the plan that waits for an approval.' })),
    planId: optional(string({ doc: 'The id of that plan.' })),
    problems: optional(list(problem, { doc: 'Problems of its documents, at most 100.' })),
    heldBack: optional(count({ doc: 'Number of files that the last applied attempt held back because of problems.' })),
    inventory: optional(
      mapOf(integer({ doc: '' }), { doc: 'Number of objects that it states something about, by kind.' }),
    ),
    drifted: optional(
      count({ doc: 'Number of stated values that differed in the account at the last applied attempt.' }),
    ),
    history: optional(
      list(attempt, {
        doc: 'The last ten attempts that differ from the previous one in result or content, or that made a revision; newest first.',
      }),
    ),
    nextRunAt: optional(time({ doc: 'Time of the next scheduled reconcile, as of the last record.' })),
    lastHandledReconcileAt: optional(time({ doc: 'Newest request to reconcile that was handled.' })),
  },
  { doc: 'Status of a source; empty for a source that is only pushed.', schema: 'SourceStatus' },
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
    namespace: optional(string({ doc: 'Namespace of that cluster from which its documents are read.' })),
    requested: optional(
      object(
        {
          suspend: optional(boolean({ doc: 'Whether it is suspended.' })),
          conflictMode: optional(oneOf(conflictModes, { doc: 'Requested conflict mode.' })),
        },
        { doc: 'Settings that its `Source` resource in the cluster requests.' },
      ),
    ),
    id: string({ doc: 'Its name.' }),
    type: string({
      doc: 'Type: `directory`, `git`, `kubernetes`, or `push` for a source that is only pushed through the API.',
    }),
    managedBy: optional(
      oneOf(['server', 'api'], {
        doc: 'Where its settings are managed: in the configuration of a server, or through the API.',
      }),
    ),
    suspended: boolean({ doc: 'Whether its loop is stopped.' }),
    generation: count({ doc: 'Generation of its settings; increases with each change.' }),
    status,
    objects: count({ doc: 'Approximate number of objects that it states something about.' }),
    overrides: optional(
      object(
        {
          units: count({ doc: 'Number of overridden units.' }),
          until: time({ doc: 'End of the last of these overrides.' }),
        },
        { doc: 'The running overrides of its objects.' },
      ),
    ),
  },
  { doc: 'A source of documents for the account, with its settings.', schema: 'Source' },
);

/** Source with its status. */
export type Source = ValueOf<typeof source>;

const removal = object(
  {
    revision: nullable(
      integer({
        doc: 'Revision that released its objects; `null` when there was nothing to release.',
      }),
    ),
    released: count({ doc: 'Number of released objects.' }),
    shared: count({ doc: 'Number of released objects that other sources still state or own.' }),
    reconciled: list(string({ doc: '' }), {
      doc: 'Sources that it blocked, which are reconciled now.',
    }),
    deleted: count({ doc: 'Number of deleted objects.' }),
  },
  { doc: 'Result of releasing or deleting a source.', schema: 'SourceEnd' },
);

/** Result of releasing or deleting a source. */
export type SourceRemoval = ValueOf<typeof removal>;

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
const removalExample = { revision: 19, released: 22, shared: 2, deleted: 0, reconciled: ['office'] };

const path = '/api/config/sources';
const itemPath = `${path}/{name}` as const;
const params = { name: string({ doc: 'The name of the source.' }) };
const bodySchema = 'SourceRequest';
const bodyUnion = { by: 'type', of: apiSourceSchemas, doc: 'Settings of the source.' };
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
    doc: 'Either a Git repository, which the servers follow from then on, or the settings of a source that is pushed. Directories are defined in the configuration of a server.',
    ...{ bodySchema, bodyUnion },
    answer: source,
    status: 201,
    errors: ['conflict'],
    example: { body: git, answer: { ...sourceExample, ...git, managedBy: 'api' } },
  }),
  read: defineOperation({
    id: 'readSource',
    method: 'GET',
    path: itemPath,
    params,
    access: { module: 'config', operation: 'read' },
    summary: 'Read a source with its status',
    answer: source,
    example: { answer: sourceExample },
  }),
  replace: defineOperation({
    id: 'replaceSource',
    method: 'PUT',
    path: itemPath,
    params,
    access: update,
    summary: 'Replace the settings of a source',
    doc: 'Omitted settings return to their defaults. Sources that are defined in the configuration of a server are changed there.',
    ...{ bodySchema, bodyUnion },
    answer: source,
    errors: ['conflict'],
    example: { body: changed, answer: { ...sourceExample, ...changed, managedBy: 'api' } },
  }),
  delete: defineOperation({
    id: 'deleteSource',
    method: 'DELETE',
    path: itemPath,
    params,
    access: { module: 'config', operation: 'delete' },
    summary: 'Delete a source',
    doc: 'Its objects are kept and released, or deleted with it, as its settings or `objects` specify.',
    query: {
      objects: optional(
        oneOf(['orphan', 'prune'], {
          doc: 'Whether its objects are kept (`orphan`) or deleted (`prune`). Absent: as its settings specify.',
        }),
      ),
      approve: optional(string({ doc: 'The digest of the plan that deletes them, when a guard stopped it.' })),
    },
    answer: removal,
    errors: ['conflict', 'approval'],
    example: { answer: removalExample },
  }),
  reconcile: defineOperation({
    id: 'reconcileSource',
    method: 'POST',
    path: `${itemPath}/reconcile`,
    params,
    access: update,
    summary: 'Reconcile a source now',
    doc: 'Answers at once; the server that runs the source begins within a second.',
    answer: object({ requestedAt: time({ doc: 'When.' }) }, { doc: 'A recorded request.', schema: 'ReconcileRequest' }),
    status: 202,
    errors: ['conflict'],
    example: { answer: { requestedAt: '2026-01-02T03:04:05.000Z' } },
  }),
  suspend: defineOperation({
    id: 'suspendSource',
    method: 'POST',
    path: `${itemPath}/suspend`,
    params,
    access: update,
    summary: 'Suspend a source',
    doc: 'A running reconcile completes. While the source is suspended, it keeps what its documents state.',
    answer: source,
    example: { answer: { ...sourceExample, suspended: true } },
  }),
  resume: defineOperation({
    id: 'resumeSource',
    method: 'POST',
    path: `${itemPath}/resume`,
    params,
    access: update,
    summary: 'Resume a suspended source',
    answer: source,
    example: { answer: sourceExample },
  }),
  detach: defineOperation({
    id: 'detachSource',
    method: 'POST',
    path: `${itemPath}/detach`,
    params,
    access: update,
    summary: 'Release everything that a source states',
    doc: 'Objects stay unchanged; those that no other source states have no owner any more. The source is suspended; when it is resumed, it takes the same objects back. Sources that it blocked are reconciled at once.',
    answer: removal,
    errors: ['conflict'],
    example: { answer: removalExample },
  }),
};
