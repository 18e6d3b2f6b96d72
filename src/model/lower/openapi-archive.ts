import { type Items, json, named, query, textual } from './openapi-operation.ts';

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
      summary: 'Put an archive in the place of the account',
      description:
        'All of it or nothing, with ids and tokens as they were. The account must never have been used; or it is the one of the archive, and `replace` names it.',
      parameters: [query('replace', 'The id of the account, if it is in use and may be replaced.')],
      body: archive,
      answer: json(named('Restored'), {
        account: 'ch8i4ug6lnn4g9hqv7a0',
        revision: 19,
        restored: 18,
        createdAt: '2026-01-02T03:04:05.000Z',
        objects: 143,
        rows: 2318,
        history: true,
      }),
      errors: [400, ...common, 404, 409, 413, 415, 422],
    },
  },
};
