import type { JsonObject } from '../../lib/json.ts';
import { schemaReference } from '../../model/lower/openapi/operation.ts';
import { count, optional, time } from '../../model/operation/fields.ts';
import { defineOperation } from '../../model/operation/operation.ts';
import { boolean, integer, json, list, object, string, type ValueOf } from '../../model/schema/field.ts';
import { actor, type rollback, unit } from './plan.ts';

const stated = object(
  {
    source: string({ doc: 'The source.' }),
    file: string({ doc: 'The file.' }),
    line: count({ doc: 'The line in the file.' }),
    exclusive: optional(boolean({ doc: 'Whether only this source may add members.' })),
    spec: json({ type: 'object', additionalProperties: true }, { doc: 'Values that it states.' }),
  },
  { doc: 'What a source states about an object.' },
);

const change = object(
  {
    action: string({ doc: 'Action on the object.' }),
    kind: string({ doc: 'The kind of the object.' }),
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    name: string({ doc: 'Its display name.' }),
    id: string({ doc: 'Its id.' }),
    units: list(unit, { doc: '' }),
    declared: optional(
      object(
        {
          stated: list(stated, { doc: 'What sources state after the revision.' }),
          released: list(string({ doc: '' }), { doc: 'Sources that no longer state it.' }),
        },
        { doc: 'Change of which sources state the object.' },
      ),
    ),
    metadata: optional(
      json(
        { type: 'object', additionalProperties: true },
        {
          doc: 'Changes outside the spec: `key`, `owner`, `parent`, `protected`, `aliases`, `overrides`. `null`: removed.',
        },
      ),
    ),
  },
  { doc: 'Changes of a revision to one object, with values before and after.', schema: 'RevisionChange' },
);

/** Changes of a revision to one object, with values before and after. */
export type RevisionChange = ValueOf<typeof change>;

const head = {
  revision: count({ doc: 'Its number.' }),
  created_at: time({ doc: 'When it was made.' }),
  actor,
  source: optional(string({ doc: 'The source that was applied, if any.' })),
  commit: optional(string({ doc: 'Commit of the source, if it has commits.' })),
  commit_author: optional(string({ doc: 'Name of the author of that commit.' })),
  commit_subject: optional(string({ doc: 'First line of the message of that commit.' })),
  plan: optional(string({ doc: 'The id of the stored plan that was applied, if any.' })),
  digest: optional(string({ doc: 'The digest of what was applied.' })),
  request: string({ doc: 'Id of the attempt that made it, as in `request` of an `in_doubt` error.' }),
  request_id: optional(
    string({ doc: 'The `X-Request-Id` of the request that made it; absent when the server made it by itself.' }),
  ),
  counts: json<JsonObject>(
    { type: 'object', additionalProperties: { type: 'integer' } },
    { doc: 'Number of objects by action.' },
  ),
  rollback: optional(
    json<ValueOf<typeof rollback>>(schemaReference('Rollback'), {
      doc: 'Target of the rollback; absent when it rolled nothing back.',
    }),
  ),
  restored: optional(
    json({ type: 'integer', minimum: 0 }, { doc: 'Revision of the restored archive; absent when it restored none.' }),
  ),
};

const revision = object(
  {
    ...head,
    changes: optional(
      list(change, { doc: 'Changes to the object that the request names; absent when it names none.' }),
    ),
  },
  { doc: 'A revision of the account.', schema: 'Revision' },
);

const revisionWithChanges = object(
  { ...head, changes: list(change, { doc: '' }) },
  { doc: 'A revision of the account with its changes, object by object.', schema: 'RevisionWithChanges' },
);

/** Revision. `changes` is present only when the request asks for one object, and covers only that object. */
export type Revision = ValueOf<typeof revision>;

/** Revision with its changes, object by object. */
export type RevisionWithChanges = ValueOf<typeof revisionWithChanges>;

const example = {
  revision: 18,
  created_at: '2026-01-02T03:04:05.000Z',
  actor: { type: 'user', id: 'ch8i4ug6lnn4g9hqv7p0', name: 'Ana Lima', email: 'ana@example.com' },
  source: 'cli',
  plan: 'ch8i4ug6lnn4g9hqv7m0',
  digest: '9f2c1d0e8b7a6f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0f9e8d7c',
  request: '4c1f2a6e-9d0b-4e57-8a3c-0b6f5d2e7a91',
  request_id: 'd2a0c3b4-5e6f-4a7b-8c9d-0e1f2a3b4c5d',
  counts: { create: 1, update: 0, delete: 0, claims: 0 },
};

const path = '/api/config/revisions';

/** Operations on the history of the account. */
export const revisions = {
  list: defineOperation({
    id: 'listRevisions',
    method: 'GET',
    path,
    access: { module: 'config', operation: 'read' },
    summary: 'List revisions, newest first',
    doc: 'Only revisions that match all given parameters. With `object`, each includes its changes to that object.',
    query: {
      source: optional(string({ doc: 'Only those that applied this source.' })),
      request: optional(
        string({ doc: 'Only those of this request: its `X-Request-Id`, or the `request` of an `in_doubt` error.' }),
      ),
      actor: optional(string({ doc: 'Only those of the actor with this id, name or e-mail address.' })),
      kind: optional(string({ doc: 'Only those that changed an object of this kind.' })),
      object: optional(
        string({ doc: 'Only those that changed this object: an id, or `Kind/key` with a present or former key.' }),
      ),
      since: optional(time({ doc: 'Only those made at this time or later.' })),
      until: optional(time({ doc: 'Only those made before this time.' })),
      before: optional(integer({ doc: 'Only revisions before this one.', minimum: 1 })),
      limit: integer({
        doc: 'Maximum number of revisions; default 100. Values above 1,000 become 1,000.',
        ...{ minimum: 1, maximum: 1000, clamp: true, default: 100 },
      }),
    },
    answer: list(revision, { doc: '' }),
    example: { answer: [example] },
  }),
  read: defineOperation({
    id: 'readRevision',
    method: 'GET',
    path: `${path}/{revision}`,
    access: { module: 'config', operation: 'read' },
    summary: 'Read a revision with its changes',
    params: { revision: integer({ doc: 'The number of the revision.', minimum: 1 }) },
    answer: revisionWithChanges,
    errors: ['gone'],
    example: {
      answer: {
        ...example,
        changes: [
          {
            ...{ action: 'create', kind: 'Group', key: 'developers', name: 'developers' },
            ...{ id: 'ch8i4ug6lnn4g9hqv7mg', units: [{ path: 'name', after: 'developers' }] },
          },
        ],
      },
    },
  }),
};
