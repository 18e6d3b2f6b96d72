import type { JsonObject } from '../../lib/json.ts';
import { listOf } from './openapi-operation.ts';
import { planSchemas, subject } from './openapi-plan-schemas.ts';
import { count, object, text, time, words } from './openapi-words.ts';

const revisionMembers = {
  revision: count('Its number.'),
  created_at: time('When it was made.'),
  actor: object(
    'On whose behalf.',
    {
      type: words(['user', 'source', 'system'], 'What the actor is.'),
      id: text('Its id.'),
      name: text('Its name.'),
      email: text('Its e-mail address.'),
    },
    ['email'],
  ),
  source: text('The source that was applied, if any.'),
  commit: text('The commit that the source was at, if it has commits.'),
  plan: text('The id of the stored plan that was applied, if any.'),
  digest: text('The digest of what was applied.'),
  counts: { type: 'object', description: 'How many objects were made, changed and deleted.' },
};
const revisionOptional = ['source', 'commit', 'plan', 'digest'];

const sourceMembers = {
  id: text('Its name.'),
  type: text('What it is: `directory`, or `push` for one that only ever comes through the API.'),
  status: { type: 'object', description: 'What became of its last attempt.' },
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
  Revision: object('One step of the account.', revisionMembers, revisionOptional),
  RevisionWithChanges: object(
    'One step of the account, object by object.',
    { ...revisionMembers, changes: listOf('RevisionChange') },
    revisionOptional,
  ),
  RevisionChange: object(
    'What a revision did to one object, with values before and after.',
    {
      action: text('What was done.'),
      kind: subject.kind,
      key: subject.key,
      name: subject.name,
      id: text('Its id.'),
      units: listOf('Unit'),
    },
    ['key'],
  ),
  Status: object('How the account stands.', statusMembers),
};
