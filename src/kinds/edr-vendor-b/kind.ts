import { defineKind } from '../../model/declare/kind.ts';
import { optionalString, secret, string } from '../../model/schema/field.ts';
import { edrComputed, edrFields, edrKind, lastSyncedInterval } from '../shared/edr.ts';
import { webUrl } from '../shared/web-url.ts';

const spec = {
  client_id: string({ doc: 'The id of the application that queries the product.', required: true, minLength: 1 }),
  tenant_id: string({ doc: 'The tenant in which the application is registered.', required: true, minLength: 1 }),
  secret: secret({ doc: 'The secret of the application. It is never shown.', required: true }),
  login_url: optionalString({
    doc: 'The URL that issues its tokens, for clouds other than the public one.',
    format: webUrl,
    omitEmpty: true,
  }),
  api_url: optionalString({
    doc: 'The URL of its graph API, for clouds other than the public one.',
    format: webUrl,
    omitEmpty: true,
  }),
  ...edrFields,
  last_synced_interval: lastSyncedInterval,
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    EdrVendorB: { fields: typeof spec; derived: object };
  }
}

export const edrVendorB = defineKind({
  ...edrKind('vendor-b'),
  name: 'EdrVendorB',
  doc: 'Asks the device management of vendor B which peers comply. There is one such integration in an account.',
  nameField: 'tenant_id',
  spec,
  secretAddresses: ['login_url', 'api_url'],
  computed: edrComputed,
  example: {
    client_id: '5f1c9a52-7c1e-4c0a-9d3e-0b6f2f6d8a11',
    tenant_id: 'b4f7c2d0-13a8-4f5e-8a67-2c9d1e0f3b55',
    secret: { valueFrom: { envRef: 'HEDDLE_VALUE_EDR_B_SECRET' } },
    groups: ['developers'],
    last_synced_interval: 24,
    enabled: true,
  },
});
