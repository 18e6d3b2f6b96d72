import { defineKind } from '../../model/declare/kind.ts';
import { integer, optionalString, secret, string } from '../../model/schema/field.ts';
import { edrComputed, edrFields, edrKind } from '../shared/edr.ts';
import { webUrl } from '../shared/web-url.ts';

const spec = {
  // The product treats it as a credential, so responses leave it out like the secret.
  client_id: secret({
    doc: 'The id of the client that queries the product. It is never shown.',
    required: true,
  }),
  secret: secret({ doc: 'The secret of the client. It is never shown.', required: true }),
  cloud_id: string({ doc: 'The region of the product, such as us-1 or eu-1.', required: true, minLength: 1 }),
  api_url: optionalString({
    doc: 'The URL of the product, for regions other than the known ones.',
    format: webUrl,
    omitEmpty: true,
  }),
  ...edrFields,
  zta_score_threshold: integer({
    doc: 'The lowest assessment with which a peer is approved.',
    required: true,
    minimum: 0,
    maximum: 100,
  }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    EdrVendorD: { fields: typeof spec; derived: object };
  }
}

export const edrVendorD = defineKind({
  ...edrKind('vendor-d'),
  name: 'EdrVendorD',
  doc: 'Asks the endpoint-security product of vendor D how trustworthy each peer is. There is one such integration in an account.',
  nameField: 'cloud_id',
  spec,
  secretAddresses: ['api_url'],
  computed: {
    ...edrComputed,
    last_synced_interval: {
      doc: 'How old the data of the product may be, in hours. It is fixed.',
      schema: { type: 'integer' },
      value: () => 24,
    },
  },
  example: {
    client_id: { valueFrom: { envRef: 'HEDDLE_VALUE_EDR_D_CLIENT' } },
    secret: { valueFrom: { envRef: 'HEDDLE_VALUE_EDR_D_SECRET' } },
    cloud_id: 'eu-1',
    groups: ['developers'],
    zta_score_threshold: 70,
    enabled: true,
  },
});
