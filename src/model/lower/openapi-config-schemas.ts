import type { JsonObject } from '../../lib/json.ts';
import { driftSchemas } from './openapi-drift.ts';
import { objectSchemas } from './openapi-objects.ts';
import { listOf } from './openapi-operation.ts';
import { planSchemas } from './openapi-plan-schemas.ts';
import { revisionSchemas } from './openapi-revision-schemas.ts';
import { count, object, text } from './openapi-words.ts';

const sourceMembers = {
  id: text('Its name.'),
  type: text('What it is: `directory`, or `push` for one that only ever comes through the API.'),
  suspended: { type: 'boolean', description: 'Whether its loop is stopped.' },
  generation: count('How often its settings have changed.'),
  status: {
    type: 'object',
    description: 'How it fares: a word, a sentence, conditions, and what was seen and applied last.',
  },
  objects: count('About how many objects it states something.'),
};

const statusMembers = {
  account: text('The id of the account.'),
  revision: count('The revision of the account.'),
  version: text('The release of the server.'),
  database: text('Which database it works on.'),
  objects: {
    type: 'object',
    description: 'How many objects there are of each kind.',
    additionalProperties: { type: 'integer' },
  },
  sources: listOf('Source'),
};

/** Schemas of the endpoints under `/api/config`. */
export const configSchemas: JsonObject = {
  Health: object('How the server is.', { status: text('`ok` or `ready`.') }),
  ...planSchemas,
  Source: object(
    'Something that declares documents for the account; further members depend on its type.',
    sourceMembers,
  ),
  ...revisionSchemas,
  ...driftSchemas,
  ...objectSchemas,
  Status: object('How the account stands.', statusMembers),
};
