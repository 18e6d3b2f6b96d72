import { defineKind } from '../../model/declare/kind.ts';
import { boolean, integer, oneOf, optionalString } from '../../model/schema/field.ts';
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
  api_token: apiToken,
  api_url: apiUrl,
  ...edrFields,
  last_synced_interval: lastSyncedInterval,
  match_attributes: matchAttributes({
    active_threats: integer({ doc: 'The most threats that a peer may have open.', minimum: 0 }),
    encrypted_applications: boolean({ doc: 'Whether the peer must encrypt its applications; false demands nothing.' }),
    firewall_enabled: boolean({ doc: 'Whether the firewall of the peer must be on; false demands nothing.' }),
    infected: boolean({ doc: 'Whether the product must report the peer as infected (true) or as clean (false).' }),
    is_active: boolean({ doc: 'Whether the agent on the peer must be active; false demands nothing.' }),
    is_up_to_date: boolean({ doc: 'Whether the agent on the peer must be up to date; false demands nothing.' }),
    network_status: oneOf(['connected', 'disconnected', 'quarantined'], {
      doc: 'The network status that the product must report for the peer.',
    }),
    operational_state: optionalString({
      doc: 'The operational state that the product must report for the agent.',
      omitEmpty: true,
    }),
  }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    EdrVendorA: { fields: typeof spec; derived: object };
  }
}

export const edrVendorA = defineKind({
  ...edrKind('vendor-a'),
  name: 'EdrVendorA',
  doc: 'Asks the endpoint-security product of vendor A which peers are in good health. There is one such integration in an account.',
  nameField: 'api_url',
  spec,
  secretAddresses: ['api_url'],
  computed: edrComputed,
  example: {
    api_token: { valueFrom: { envRef: 'HEDDLE_VALUE_EDR_A_TOKEN' } },
    api_url: 'https://edr-a.example.com',
    groups: ['developers'],
    last_synced_interval: 24,
    enabled: true,
    match_attributes: {
      active_threats: 0,
      firewall_enabled: true,
      infected: false,
      is_active: true,
      is_up_to_date: true,
      network_status: 'connected',
      operational_state: 'na',
    },
  },
});
