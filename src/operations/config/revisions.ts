import type { JsonObject } from '../../lib/json.ts';
import { named } from '../../model/lower/openapi/operation.ts';
import { count, optional, time } from '../../model/operation/fields.ts';
import { defineOperation } from '../../model/operation/operation.ts';
import { boolean, integer, json, list, object, string, type ValueOf } from '../../model/schema/field.ts';
import { actor, type rollback, unit } from './plan.ts';

const stated = object(
  {
    source: string({ doc: 'The source.' }),
    file: string({ doc: 'The file.' }),
    line: count({ doc: 'The line in the file.' }),
    exclusive: optional(boolean({ doc: 'Nobody else adds members.' })),
    spec: json({ type: 'object', additionalProperties: true }, { doc: 'What it states.' }),
  },
  { doc: 'What a source states about an object.' },
);

const change = object(
  {
    action: string({ doc: 'What was done.' }),
    kind: string({ doc: 'The kind of the object.' }),
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    name: string({ doc: 'Its display name.' }),
    id: string({ doc: 'Its id.' }),
    units: list(unit, { doc: '' }),
    declared: optional(
      object(
        {
          stated: list(stated, { doc: 'What sources state from then on.' }),
          released: list(string({ doc: '' }), { doc: 'Sources that no longer state it.' }),
        },
        { doc: 'Who states the object.' },
      ),
    ),
    metadata: optional(
      json(
        { type: 'object', additionalProperties: true },
        {
          doc: 'What changed beside the spec: `key`, `owner`, `parent`, `protected`, `aliases`, `overrides`. `null`: not there any more.',
        },
      ),
    ),
  },
  { doc: 'What a revision did to one object, with values before and after.', schema: 'RevisionChange' },
);

/** Changes of a revision to one object, with values before and after. */
export type RevisionChange = ValueOf<typeof change>;

const head = {
  revision: count({ doc: 'Its number.' }),
  created_at: time({ doc: 'When it was made.' }),
  actor,
  source: optional(string({ doc: 'The source that was applied, if any.' })),
  commit: optional(string({ doc: 'The commit that the source was at, if it has commits.' })),
  commit_author: optional(string({ doc: 'The name of who wrote that commit.' })),
  commit_subject: optional(string({ doc: 'The first line of its message.' })),
  plan: optional(string({ doc: 'The id of the stored plan that was applied, if any.' })),
  digest: optional(string({ doc: 'The digest of what was applied.' })),
  request: string({ doc: 'Names the attempt that made it, as an error in doubt does.' }),
  request_id: optional(
    string({ doc: 'The `X-Request-Id` of the request that made it; absent when the server made it by itself.' }),
  ),
  counts: json<JsonObject>(
    { type: 'object', additionalProperties: { type: 'integer' } },
    { doc: 'How many objects were made, changed and deleted.' },
  ),
  rollback: optional(
    json<ValueOf<typeof rollback>>(named('Rollback'), { doc: 'What it went back to, if it rolled back.' }),
  ),
  restored: optional(
    json({ type: 'integer', minimum: 0 }, { doc: 'The revision of the archive, if it restored one.' }),
  ),
};

const revision = object(
  { ...head, changes: optional(list(change, { doc: 'What it did to the object asked for.' })) },
  { doc: 'One step of the account.', schema: 'Revision' },
);

const whole = object(
  { ...head, changes: list(change, { doc: '' }) },
  { doc: 'One step of the account, object by object.', schema: 'RevisionWithChanges' },
);

/** Revision. `changes` is present only when the request asks for one object, and covers only that object. */
export type Revision = ValueOf<typeof revision>;

/** Revision with its changes, object by object. */
export type RevisionWithChanges = ValueOf<typeof whole>;

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
    doc: 'Those that all given parameters fit. With `object` each says what it did to the object.',
    query: {
      source: optional(string({ doc: 'Only those that applied this source.' })),
      request: optional(
        string({ doc: 'Only those of this request: its `X-Request-Id`, or what an error in doubt names.' }),
      ),
      actor: optional(string({ doc: 'Only those of the actor with this id, name or e-mail address.' })),
      kind: optional(string({ doc: 'Only those that changed an object of this kind.' })),
      object: optional(
        string({ doc: 'Only those that changed this object: an id, or `Kind/key`, also a former one.' }),
      ),
      since: optional(time({ doc: 'Only those made at this time or later.' })),
      until: optional(time({ doc: 'Only those made before this time.' })),
      before: optional(integer({ doc: 'Only revisions before this one.', minimum: 1 })),
      limit: integer({
        doc: 'How many at most, 100 unless said otherwise; above 1,000 it is 1,000.',
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
    answer: whole,
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
