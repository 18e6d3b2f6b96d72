import { objectStatuses } from '../../model/declare/object-status.ts';
import { count, optional } from '../../model/operation/fields.ts';
import { defineOperation } from '../../model/operation/operation.ts';
import { list, object, oneOf, string, type ValueOf } from '../../model/schema/field.ts';

const meaning =
  'It is as sources state it; something is not; somebody set it aside for a while, or restricted it; sources contradict each other about it; no document states it any more, and others use it; no source has a say in it.';

const standing = object(
  {
    kind: string({ doc: 'Its kind.' }),
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    previousKeys: optional(
      list(string({ doc: '' }), {
        doc: 'Keys that it had before, of renames that were applied: no document needs to name them as previous any more.',
      }),
    ),
    name: string({ doc: 'Its display name.' }),
    id: string({ doc: 'Its id.' }),
    status: oneOf(objectStatuses, { doc: meaning }),
    owner: optional(string({ doc: 'The source that owns its life cycle.' })),
    declared: list(
      object(
        {
          source: string({ doc: 'The source of the document.' }),
          file: string({ doc: 'Its file.' }),
          line: count({ doc: 'Where in the file, from 1.' }),
        },
        { doc: 'A document about it.' },
      ),
      { doc: 'Who states something about it, its owner first.' },
    ),
    revision: count({ doc: 'The revision that changed it last.' }),
  },
  { doc: 'An object, and how it stands between those who have a say in it.', schema: 'ObjectStanding' },
);

/** Object with its status, its owner and the sources that declare it. */
export type ObjectStanding = ValueOf<typeof standing>;

/** Operation that lists objects with their status. */
export const objects = {
  list: defineOperation({
    id: 'listObjects',
    method: 'GET',
    path: '/api/config/objects',
    access: { module: 'config', operation: 'read' },
    summary: 'List objects with how each stands',
    doc: 'Those that all given parameters fit, by kind and name.',
    query: {
      kind: optional(string({ doc: 'Only objects of this kind.' })),
      source: optional(string({ doc: 'Only what this source owns or states.' })),
      status: optional(oneOf(objectStatuses, { doc: 'Only objects that stand so.' })),
      object: optional(
        string({ doc: 'This object alone: an id, or its kind with its key, name or id, such as `Group/developers`.' }),
      ),
    },
    answer: object(
      { revision: count({ doc: 'The revision of the account.' }), objects: list(standing, { doc: '' }) },
      { doc: 'How objects stand.', schema: 'Objects' },
    ),
    errors: ['not_found', 'invalid'],
    example: {
      answer: {
        revision: 18,
        objects: [
          {
            ...{ kind: 'Group', key: 'developers', name: 'Developers', id: 'ch8i4ug6lnn4g9hqv7m0', status: 'InSync' },
            ...{ owner: 'office', declared: [{ source: 'office', file: 'groups.yaml', line: 1 }], revision: 17 },
          },
          {
            ...{ kind: 'Group', name: 'Contractors', id: 'ch8i4ug6lnn4g9hqv7mg', status: 'Unmanaged' },
            ...{ declared: [], revision: 18 },
          },
        ],
      },
    },
  }),
};
