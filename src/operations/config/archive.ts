import type { JsonObject } from '../../lib/json.ts';
import { textContent } from '../../model/lower/openapi/operation.ts';
import { count, optional, time } from '../../model/operation/fields.ts';
import { defineOperation } from '../../model/operation/operation.ts';
import { boolean, integer, json, list, object, oneOf, string } from '../../model/schema/field.ts';
import type { Format } from '../../model/schema/format.ts';

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

/**
 * Stands for the bytes of an archive in examples. Those of a real one contain control characters, which YAML forbids.
 */
const exampleArchive = '(the bytes of an archive)';

const restored = object(
  {
    account: string({ doc: 'Id of the account, which is the account of the archive.' }),
    revision: count({ doc: 'Revision that the restore created.' }),
    restored: count({ doc: 'The revision of the archive.' }),
    createdAt: time({ doc: 'When the archive was made.' }),
    objects: count({ doc: 'Number of objects.' }),
    rows: count({ doc: 'Number of rows that were written.' }),
    history: boolean({ doc: 'Whether the history was restored too.' }),
  },
  { doc: 'Result of a restore.', schema: 'Restored' },
);

/** Operations that export, back up and restore an account. */
export const archive = {
  export: defineOperation({
    id: 'exportDocuments',
    method: 'GET',
    path: '/api/config/export',
    access: { module: 'config', operation: 'read' },
    summary: 'Export the account as documents',
    doc: 'Applying the exported documents changes nothing.',
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
        doc: 'Whether every document identifies its object by id, even where the key is enough.',
        default: false,
      }),
      format: oneOf(['yaml', 'json', 'kubernetes'], {
        doc: 'Format of the answer: documents as YAML or JSON, or Kubernetes custom resources as YAML.',
        default: 'yaml',
      }),
      namespace: optional(string({ doc: 'Namespace of the Kubernetes resources.', format: namespace, maxLength: 63 })),
    },
    answer: list(json<JsonObject>({ type: 'object', additionalProperties: true }, { doc: '' }), { doc: '' }),
    otherMediaTypes: {
      'application/yaml': 'apiVersion: heddle.dev/v1\nkind: Group\nmetadata:\n  name: developers\nspec: {}\n',
    },
    errors: ['not_found', 'gone'],
    example: {
      answer: [{ apiVersion: 'heddle.dev/v1', kind: 'Group', metadata: { name: 'developers' }, spec: {} }],
    },
  }),
  backUp: defineOperation({
    ...{ id: 'backUpAccount', method: 'GET', path: '/api/config/backup', ...ownersOnly },
    summary: 'Export the account as an archive',
    doc: 'Contains the state of one revision, regardless of concurrent writes: objects, declarations, sources, audit events and tokens (as hashes), with the history. Secrets stay sealed with the key of the server. An interrupted download is not a valid archive.',
    query: {
      history: boolean({ doc: 'Whether the archive contains the history. Default: true.', default: true }),
    },
    answer: string({ doc: '' }),
    answerType: 'application/gzip',
    withoutEtag: true,
    errors: ['not_found'],
    example: { answer: exampleArchive },
  }),
  restore: defineOperation({
    ...{ id: 'restoreAccount', method: 'POST', path: '/api/config/restore', ...ownersOnly },
    summary: 'Restore the objects of the account from one of its archives',
    doc: 'Creates one revision or changes nothing, like a rollback: objects have their former ids, and the sources that stated them are suspended. The archive must be of this account and signed by this server. People, credentials, tokens, tenants and the history stay unchanged; whole accounts are restored by the operator, on the server. The archive may have at most 64 MiB, and only one restore of an account can run at a time.',
    query: {
      replace: optional(string({ doc: 'Id of the account, to confirm that its objects may be replaced.' })),
    },
    bytesBody: {
      types: ['application/gzip', 'application/x-gzip', 'application/octet-stream'],
      content: textContent('application/gzip', exampleArchive),
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
