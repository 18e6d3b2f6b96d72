import { defineKind } from '../../model/declare/kind.ts';
import { boolean, integer, maxEntries, setOf } from '../../model/schema/field.ts';
import {
  apiToken,
  apiUrl,
  edrComputed,
  edrFields,
  edrKind,
  lastSyncedInterval,
  matchAttributes,
} from '../shared/edr.ts';

const spec = {
  api_url: apiUrl,
  api_token: apiToken,
  ...edrFields,
  last_synced_interval: lastSyncedInterval,
  match_attributes: matchAttributes({
    disk_encryption_enabled: boolean({ doc: 'Whether the disk of the peer must be encrypted; false demands nothing.' }),
    failing_policies_count_max: integer({
      doc: 'The most policies that a peer may fail; 0 requires all of them to be met.',
      minimum: 0,
    }),
    vulnerable_software_count_max: integer({
      doc: 'The most vulnerable programs that a peer may have.',
      minimum: 0,
    }),
    status_online: boolean({ doc: 'Whether the product must report the peer as online; false demands nothing.' }),
    required_policies: setOf(integer({ doc: 'The number of a policy in the product.' }), {
      doc: 'Policies of the product that a peer must meet.',
      maxItems: maxEntries,
      omitEmpty: true,
    }),
  }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    EdrVendorC: { fields: typeof spec; derived: object };
  }
}

export const edrVendorC = defineKind({
  ...edrKind('vendor-c'),
  name: 'EdrVendorC',
  doc: 'Asks the device management of vendor C which peers meet its policies. There is one such integration in an account.',
  nameField: 'api_url',
  spec,
  secretAddresses: ['api_url'],
  computed: edrComputed,
  example: {
    api_url: 'https://edr-c.example.com',
    api_token: { valueFrom: { envRef: 'HEDDLE_VALUE_EDR_C_TOKEN' } },
    groups: ['developers'],
    last_synced_interval: 24,
    enabled: true,
    match_attributes: {
      disk_encryption_enabled: true,
      failing_policies_count_max: 0,
      vulnerable_software_count_max: 5,
      status_online: true,
      required_policies: [3, 8],
    },
  },
});
