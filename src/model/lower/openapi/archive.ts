import { type Items, json, named, query, textual } from './operation.ts';

const tag = 'config';
const common = [401, 403, 429, 503];

/** How a compressed archive begins. */
const archive = textual('application/gzip', '\u001f\u008b\b…');

/** The endpoints by which an account is written as an archive and put in place again. */
export const archiveItems: Items = {
  '/api/config/backup': {
    get: {
      id: 'backUpAccount',
      tag,
      summary: 'Write the account as an archive',
      description:
        'The state of one revision, whatever is written meanwhile: objects, declarations, sources, audit events and tokens (as hashes), with the history. Secrets stay sealed under the key of the server. What breaks off is no archive.',
      parameters: [
        query('history', 'Whether the history is part of it; it is unless said otherwise.', { type: 'boolean' }),
      ],
      answer: archive,
      uncached: true,
      errors: [...common, 404, 422],
    },
  },
  '/api/config/restore': {
    post: {
      id: 'restoreAccount',
      tag,
      summary: 'Put the objects of the account back to what they are in an archive of it',
      description:
        'One revision or nothing, like a rollback: objects have the ids that they had, and the sources that stated them are suspended. The archive must be of this account and signed by this server. People, credentials, tokens, tenants and the history stay as they are; whole accounts are restored by the operator, on the server. At most 64 MiB are taken, and one restore of an account at a time.',
      parameters: [query('replace', 'The id of the account, which says that its objects may be replaced.')],
      body: archive,
      answer: json(named('Restored'), {
        account: 'ch8i4ug6lnn4g9hqv7a0',
        revision: 19,
        restored: 18,
        createdAt: '2026-01-02T03:04:05.000Z',
        objects: 143,
        rows: 2318,
        history: false,
      }),
      errors: [400, ...common, 404, 409, 413, 415, 422],
    },
  },
};
