import { objectStatuses } from '../../model/declare/object-status.ts';
import { count, optional } from '../../model/operation/fields.ts';
import { defineOperation } from '../../model/operation/operation.ts';
import { list, object, oneOf, string, type ValueOf } from '../../model/schema/field.ts';

const statusDoc =
  '`InSync`: as sources state it. `Drifted`: a value differs. `Overridden`: values differ only because of an override or a restriction. `Conflicted`: sources contradict each other. `Blocked`: no document states it any more, but other objects use it. `Unmanaged`: no source states or owns any part of it.';

const listedObject = object(
  {
    kind: string({ doc: 'Its kind.' }),
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    previousKeys: optional(
      list(string({ doc: '' }), {
        doc: 'Former keys, from renames that were applied; documents no longer need to list them in `previousNames`.',
      }),
    ),
    name: string({ doc: 'Its display name.' }),
    id: string({ doc: 'Its id.' }),
    status: oneOf(objectStatuses, { doc: statusDoc }),
    owner: optional(string({ doc: 'Source that owns the object and may delete it.' })),
    declared: list(
      object(
        {
          source: string({ doc: 'The source of the document.' }),
          file: string({ doc: 'Its file.' }),
          line: count({ doc: 'Line in the file, from 1.' }),
        },
        { doc: 'A document that states the object.' },
      ),
      { doc: 'Documents that state the object, the one of its owner first.' },
    ),
    revision: count({ doc: 'Revision that last changed it.' }),
  },
  { doc: 'An object with its status, its owner and the documents that state it.', schema: 'ObjectStanding' },
);

/** Object with its status, its owner and the sources that declare it. */
export type ListedObject = ValueOf<typeof listedObject>;

/** Operation that lists objects with their status. */
export const objects = {
  list: defineOperation({
    id: 'listObjects',
    method: 'GET',
    path: '/api/config/objects',
    access: { module: 'config', operation: 'read' },
    summary: 'List objects with their status',
    doc: 'Only objects that match all given parameters, in order of kind and name.',
    query: {
      kind: optional(string({ doc: 'Only objects of this kind.' })),
      source: optional(string({ doc: 'Only objects that this source owns or states.' })),
      status: optional(oneOf(objectStatuses, { doc: 'Only objects with this status.' })),
      object: optional(
        string({ doc: 'This object alone: an id, or its kind with its key, name or id, such as `Group/developers`.' }),
      ),
    },
    answer: object(
      { revision: count({ doc: 'The revision of the account.' }), objects: list(listedObject, { doc: '' }) },
      { doc: 'Objects with their status.', schema: 'Objects' },
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
