import type { JsonObject } from '../../../lib/json.ts';
import { count, object, text, time } from './words.ts';

/** Schemas of what goes back to a former state. */
export const revisionSchemas: JsonObject = {
  Restored: object('What was restored.', {
    account: text('The id of the account, that of the archive.'),
    revision: count('The revision that the restore made.'),
    restored: count('The revision of the archive.'),
    createdAt: time('When the archive was made.'),
    objects: count('How many objects there are.'),
    rows: count('How many rows were written.'),
    history: { type: 'boolean', description: 'Whether the history came with them.' },
  }),
};
