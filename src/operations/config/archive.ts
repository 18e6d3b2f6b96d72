import type { JsonObject } from '../../lib/json.ts';
import { textual } from '../../model/lower/openapi/operation.ts';
import { count, optional, time } from '../../model/operation/fields.ts';
import { defineOperation } from '../../model/operation/operation.ts';
import { boolean, type Format, integer, json, list, object, oneOf, string } from '../../model/schema/field.ts';

/** An archive contains everything, including hashes of tokens, so it needs full rights on the account. */
const ownersOnly = { tag: 'config', access: { module: 'accounts', operation: 'update' } } as const;

/** A DNS-1123 label. */
const namespace: Format = {
  name: 'name',
  canonical: (text) =>
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text)
      ? { value: text }
      : {
          fault:
            'a namespace has lower-case letters a-z, digits and dashes, and begins and ends with a letter or digit',
        },
};

/** First bytes of a gzip archive, for examples. */
const beginning = '\u001f\u008b\b…';

const restored = object(
  {
    account: string({ doc: 'The id of the account, that of the archive.' }),
    revision: count({ doc: 'The revision that the restore made.' }),
    restored: count({ doc: 'The revision of the archive.' }),
    createdAt: time({ doc: 'When the archive was made.' }),
    objects: count({ doc: 'How many objects there are.' }),
    rows: count({ doc: 'How many rows were written.' }),
    history: boolean({ doc: 'Whether the history came with them.' }),
  },
  { doc: 'What was restored.', schema: 'Restored' },
);

/** Operations that export, back up and restore an account. */
export const archive = {
  export: defineOperation({
    id: 'exportDocuments',
    method: 'GET',
    path: '/api/config/export',
    access: { module: 'config', operation: 'read' },
    summary: 'Export the account as documents',
    doc: 'Applying the answer changes nothing.',
    query: {
      kind: optional(string({ doc: 'Only objects of this kind.' })),
      source: optional(string({ doc: 'Only what this source states.' })),
      object: optional(
        string({
          doc: 'Only this object: an id, or its kind with its key, name or id, such as `Group/developers`.',
        }),
      ),
      revision: optional(integer({ doc: 'The account as it was after this revision.', minimum: 1 })),
      markAdopt: boolean({
        doc: 'Whether every document names its object by id, also where the key says it.',
        default: false,
      }),
      format: oneOf(['yaml', 'json', 'kubernetes'], {
        doc: 'The form of the answer: documents as YAML or JSON, or custom resources of Kubernetes as YAML.',
        default: 'yaml',
      }),
      namespace: optional(
        string({ doc: 'The namespace that resources of Kubernetes name.', format: namespace, maxLength: 63 }),
      ),
    },
    answer: list(json<JsonObject>({ type: 'object', additionalProperties: true }, { doc: '' }), { doc: '' }),
    alsoAs: {
      'application/yaml': 'apiVersion: heddle.dev/v1\nkind: Group\nmetadata:\n  name: developers\nspec: {}\n',
    },
    errors: ['not_found', 'gone'],
    example: {
      answer: [{ apiVersion: 'heddle.dev/v1', kind: 'Group', metadata: { name: 'developers' }, spec: {} }],
    },
  }),
  backUp: defineOperation({
    ...{ id: 'backUpAccount', method: 'GET', path: '/api/config/backup', ...ownersOnly },
    summary: 'Write the account as an archive',
    doc: 'The state of one revision, whatever is written meanwhile: objects, declarations, sources, audit events and tokens (as hashes), with the history. Secrets stay sealed under the key of the server. What breaks off is no archive.',
    query: {
      history: boolean({ doc: 'Whether the history is part of it; it is unless said otherwise.', default: true }),
    },
    answer: string({ doc: '' }),
    answerType: 'application/gzip',
    uncached: true,
    errors: ['not_found'],
    example: { answer: beginning },
  }),
  restore: defineOperation({
    ...{ id: 'restoreAccount', method: 'POST', path: '/api/config/restore', ...ownersOnly },
    summary: 'Put the objects of the account back to what they are in an archive of it',
    doc: 'One revision or nothing, like a rollback: objects have the ids that they had, and the sources that stated them are suspended. The archive must be of this account and signed by this server. People, credentials, tokens, tenants and the history stay as they are; whole accounts are restored by the operator, on the server. At most 64 MiB are taken, and one restore of an account at a time.',
    query: {
      replace: optional(string({ doc: 'The id of the account, which says that its objects may be replaced.' })),
    },
    bytesBody: {
      types: ['application/gzip', 'application/x-gzip', 'application/octet-stream'],
      content: textual('application/gzip', beginning),
    },
    answer: restored,
    errors: ['not_found', 'conflict'],
    example: {
      answer: {
        ...{ account: 'ch8i4ug6lnn4g9hqv7a0', revision: 19, restored: 18, createdAt: '2026-01-02T03:04:05.000Z' },
        ...{ objects: 143, rows: 2318, history: false },
      },
    },
  }),
};
