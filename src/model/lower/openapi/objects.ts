import type { JsonObject } from '../../../lib/json.ts';
import { objectStatuses } from '../../declare/object-status.ts';
import { type Items, json, listOf, named, query } from './operation.ts';
import { count, object, text, words } from './words.ts';

const example = {
  revision: 18,
  objects: [
    {
      ...{ kind: 'Group', key: 'developers', name: 'Developers', id: 'ch8i4ug6lnn4g9hqv7m0', status: 'InSync' },
      ...{ owner: 'office', declared: [{ source: 'office', file: 'groups.yaml', line: 1 }], revision: 17 },
    },
    { kind: 'Group', name: 'Contractors', id: 'ch8i4ug6lnn4g9hqv7mg', status: 'Unmanaged', declared: [], revision: 18 },
  ],
};

/** The endpoint that lists the state of every object. */
export const objectItems: Items = {
  '/api/config/objects': {
    get: {
      id: 'listObjects',
      tag: 'config',
      summary: 'List objects with how each stands',
      description: 'Those that all given parameters fit, by kind and name.',
      parameters: [
        query('kind', 'Only objects of this kind.'),
        query('source', 'Only what this source owns or states.'),
        query('status', 'Only objects that stand so.', { type: 'string', enum: [...objectStatuses] }),
        query('object', 'This object alone: an id, or its kind with its key, name or id, such as `Group/developers`.'),
      ],
      answer: json(named('Objects'), example),
      errors: [401, 403, 404, 422, 429, 503],
    },
  },
};

const meaning =
  'It is as sources state it; something is not; somebody set it aside for a while, or restricted it; sources contradict each other about it; no document states it any more, and others use it; no source has a say in it.';

/** The schemas of its answer. */
export const objectSchemas: JsonObject = {
  Objects: object('How objects stand.', {
    revision: count('The revision of the account.'),
    objects: listOf('ObjectStanding'),
  }),
  ObjectStanding: object(
    'An object, and how it stands between those who have a say in it.',
    {
      kind: text('Its kind.'),
      key: text('Its `metadata.name`, when it has one.'),
      name: text('Its display name.'),
      id: text('Its id.'),
      status: words(objectStatuses, meaning),
      owner: text('The source that owns its life cycle.'),
      declared: {
        type: 'array',
        description: 'Who states something about it, its owner first.',
        items: object('A document about it.', {
          source: text('The source of the document.'),
          file: text('Its file.'),
          line: count('Where in the file, from 1.'),
        }),
      },
      revision: count('The revision that changed it last.'),
    },
    ['key', 'owner'],
  ),
};
