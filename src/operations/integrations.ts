import { syncLogLevels } from '../model/declare/list-words.ts';
import { optional, time } from '../model/operation/fields.ts';
import { defineOperation } from '../model/operation/operation.ts';
import { boolean, integer, list, object, oneOf, string } from '../model/schema/field.ts';
import { plan } from './config/plan.ts';

const directoryPath = '/api/integrations/directory-idp/{id}';
const scimPath = '/api/integrations/scim-idp/{id}';
const params = { id: integer({ doc: 'The id of the integration.' }) };

/** Entry of the log of a sync, as `GET …/logs` shows it. */
const example = {
  ...{ id: 1, level: 'info', timestamp: '2026-01-02T03:04:05.000Z' },
  message: 'revision 18: 3 created, 1 changed, 0 deleted',
};

const entry = object(
  {
    id: integer({ doc: 'Number of the entry; later entries have higher numbers.' }),
    level: oneOf(syncLogLevels, { doc: 'Severity.' }),
    timestamp: time({ doc: 'When it happened.' }),
    message: string({ doc: 'What happened.' }),
  },
  { doc: 'A log entry of a run of an integration.', schema: 'IntegrationLogEntry' },
);

const logs = {
  method: 'GET',
  access: { module: 'idp', operation: 'read' },
  summary: 'List the log of an integration',
  doc: 'Newest first; the newest 1,000 entries are kept.',
  params,
  answer: list(entry, { doc: '' }),
  example: { answer: [example] },
} as const;

/** Operations on directory integrations other than those of their kinds. */
export const integrations = {
  sync: defineOperation({
    id: 'syncDirectoryIntegration',
    method: 'POST',
    path: `${directoryPath}/sync`,
    access: { module: 'idp', operation: 'update' },
    summary: 'Sync users and groups with the directory now',
    doc: 'The answer contains the result; a sync that takes longer than 25 seconds continues after the answer. With `dry_run`, the directory is only read, and the answer shows what would change.',
    params,
    query: { dry_run: boolean({ doc: 'Whether the sync only shows what would change.', default: false }) },
    answer: object(
      {
        result: string({ doc: 'Result in a sentence.' }),
        plan: optional({ ...plan, doc: 'Changes that a dry run found.' }),
      },
      { doc: 'Result of a sync.', schema: 'SyncResult' },
    ),
    example: { answer: { result: '25 users and 4 groups were read: 3 created, 1 changed, 0 deleted' } },
  }),
  listDirectoryLogs: defineOperation({ ...logs, id: 'listDirectoryIntegrationLogs', path: `${directoryPath}/logs` }),
  listScimLogs: defineOperation({ ...logs, id: 'listScimIntegrationLogs', path: `${scimPath}/logs` }),
  renewToken: defineOperation({
    id: 'renewScimIntegrationToken',
    method: 'POST',
    path: `${scimPath}/token`,
    access: { module: 'idp', operation: 'update' },
    summary: 'Make a new token for the provider',
    doc: 'The old token stops working. The new token is shown only once.',
    params,
    ifMatch: true,
    answer: object(
      { auth_token: string({ doc: 'The token.' }) },
      { doc: 'The new token of an integration.', schema: 'RenewedIntegrationToken' },
    ),
    noStore: true,
    errors: ['precondition'],
    example: { answer: { auth_token: 'nbs_07LD2NdQx4kZ5sT8vWb3yHc6jRf9mGp0' } },
  }),
};
