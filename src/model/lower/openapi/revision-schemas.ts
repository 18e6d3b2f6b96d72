import type { JsonObject } from '../../../lib/json.ts';
import { listOf, named } from './operation.ts';
import { actor, subject } from './plan-schemas.ts';
import { count, object, text, time } from './words.ts';

const members = {
  revision: count('Its number.'),
  created_at: time('When it was made.'),
  actor,
  source: text('The source that was applied, if any.'),
  commit: text('The commit that the source was at, if it has commits.'),
  commit_author: text('The name of who wrote that commit.'),
  commit_subject: text('The first line of its message.'),
  plan: text('The id of the stored plan that was applied, if any.'),
  digest: text('The digest of what was applied.'),
  request: text('Names the attempt that made it.'),
  counts: { type: 'object', description: 'How many objects were made, changed and deleted.' },
  rollback: { ...named('Rollback'), description: 'What it went back to, if it rolled back.' },
  restored: count('The revision of the archive, if it restored one.'),
};
const optional = ['source', 'commit', 'commit_author', 'commit_subject', 'plan', 'digest', 'rollback', 'restored'];

const declaration = object(
  'What a source states about an object.',
  {
    source: text('The source.'),
    file: text('The file.'),
    line: count('The line in the file.'),
    exclusive: { type: 'boolean', description: 'Nobody else adds members.' },
    spec: { type: 'object', description: 'What it states.' },
  },
  ['exclusive'],
);

/** Schemas of the history. */
export const revisionSchemas: JsonObject = {
  RollbackRequest: object(
    'What goes back.',
    { scope: text('`sources` (what sources own, the default), `source:NAME` (what one of them owns) or `all`.') },
    ['scope'],
  ),
  Restored: object('What was restored.', {
    account: text('The id of the account, that of the archive.'),
    revision: count('The revision that the restore made.'),
    restored: count('The revision of the archive.'),
    createdAt: time('When the archive was made.'),
    objects: count('How many objects there are.'),
    rows: count('How many rows were written.'),
    history: { type: 'boolean', description: 'Whether the history came with them.' },
  }),
  Revision: object(
    'One step of the account.',
    { ...members, changes: { ...listOf('RevisionChange'), description: 'What it did to the object asked for.' } },
    [...optional, 'changes'],
  ),
  RevisionWithChanges: object(
    'One step of the account, object by object.',
    { ...members, changes: listOf('RevisionChange') },
    optional,
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
      declared: object('Who states the object.', {
        stated: { type: 'array', description: 'What sources state from then on.', items: declaration },
        released: { type: 'array', description: 'Sources that no longer state it.', items: { type: 'string' } },
      }),
      metadata: {
        type: 'object',
        description:
          'What changed beside the spec: `key`, `owner`, `parent`, `protected`, `aliases`, `overrides`. `null`: not there any more.',
      },
    },
    ['key', 'declared', 'metadata'],
  ),
};
