import type { JsonObject } from '../../../lib/json.ts';
import { listOf } from './operation.ts';
import { overrideSchemas } from './overrides.ts';
import { planSchemas } from './plan-schemas.ts';
import { revisionSchemas } from './revision-schemas.ts';
import { sourceSchemas } from './sources.ts';
import { count, object, text } from './words.ts';

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
  accessTests: object('How its access tests fare; absent when there are none.', {
    passed: count('Tests that pass.'),
    failed: count('Tests that fail.'),
    conditional: count('Tests whose outcome depends on posture checks.'),
  }),
};

/** Schemas of the endpoints under `/api/config`. */
export const configSchemas: JsonObject = {
  Health: object('How the server is.', { status: text('`ok` or `ready`.') }),
  ...planSchemas,
  ...sourceSchemas,
  ...revisionSchemas,
  ...overrideSchemas,
  Status: object('How the account stands.', statusMembers, ['accessTests']),
};
