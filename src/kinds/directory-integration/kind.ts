import { defineKind } from '../../model/declare/kind.ts';
import { integer, secret, string } from '../../model/schema/field.ts';
import { base64 } from '../shared/base64.ts';
import { directoryFields, integrationActivity } from '../shared/directory.ts';
import { lastSyncedAt } from '../shared/origin.ts';
import { refuseProviderChange } from '../shared/provider-change.ts';

const spec = {
  ...directoryFields,
  client_secret: secret({
    doc: 'The secret of the application, in Base64. It is never shown.',
    required: true,
    format: base64,
  }),
  client_id: string({ doc: 'The id of the application that reads the directory.', required: true, minLength: 1 }),
  tenant_id: string({ doc: 'The tenant whose directory is read.', required: true, minLength: 1 }),
  sync_interval: integer({ doc: 'How often the directory is read.', default: 300, minimum: 300, unit: 'seconds' }),
  host: string({
    doc: 'The cloud of the directory: microsoft.com, microsoft.us, chinacloudapi.cn, the host of its API, or a name that the operator configured. It cannot be changed after the integration is created.',
    access: 'createOnly',
    required: true,
    minLength: 1,
  }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    DirectoryIntegration: { fields: typeof spec; derived: object };
  }
}

export const directoryIntegration = defineKind({
  name: 'DirectoryIntegration',
  doc: 'Imports users and groups from a cloud directory.',
  path: '/api/integrations/directory-idp',
  ids: 'integer',
  merge: true,
  deleteReply: 'object',
  module: 'idp',
  document: { allowed: true, shortName: 'hdir' },
  observed: 'integrations',
  nameField: 'tenant_id',
  spec,
  secretAddresses: ['host'],
  computed: { last_synced_at: lastSyncedAt },
  checkMutation: refuseProviderChange,
  activity: integrationActivity,
  activityMeta: () => ({ platform: 'directory' }),
  example: {
    group_prefixes: ['mesh-'],
    user_group_prefixes: ['mesh-'],
    client_secret: { valueFrom: { envRef: 'HEDDLE_VALUE_DIRECTORY_SECRET' } },
    client_id: '5f1c9a52-7c1e-4c0a-9d3e-0b6f2f6d8a11',
    tenant_id: 'b4f7c2d0-13a8-4f5e-8a67-2c9d1e0f3b55',
    sync_interval: 900,
    host: 'directory.example.com',
  },
});
