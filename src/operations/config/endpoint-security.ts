import { count, optional, time } from '../../model/operation/fields.ts';
import { defineOperation } from '../../model/operation/operation.ts';
import { boolean, list, object, oneOf, string, type ValueOf } from '../../model/schema/field.ts';

/** States of an endpoint-security integration. */
export const endpointSecurityStates = ['waiting', 'synced', 'failing', 'held', 'untrusted', 'disabled'] as const;

const integration = object(
  {
    vendor: string({ doc: 'The name of the product in paths, such as `vendor-a`.' }),
    kind: string({ doc: 'The kind of the integration.' }),
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    state: oneOf(endpointSecurityStates, {
      doc: 'In one word: `waiting` for the first complete sync, `synced`, `failing` with verdicts that still count, `held` until somebody approves that devices are gone, `untrusted` when verdicts are too old to count, or `disabled`.',
    }),
    message: string({ doc: 'In a sentence.' }),
    deciding: boolean({ doc: 'Whether it keeps peers out: from the first complete sync on.' }),
    peers: object(
      {
        approved: count({ doc: 'Peers of its groups that it lets in.' }),
        denied: count({ doc: 'Peers of its groups that it keeps out.' }),
        unchecked: count({ doc: 'Those among them that it has not been asked about yet.' }),
      },
      { doc: 'What it decides about peers.' },
    ),
    devices: optional(count({ doc: 'How many devices the last complete sync found.' })),
    foundDevices: optional(count({ doc: 'How many devices a sync found that waits for an approval.' })),
    failures: count({ doc: 'How many syncs failed since the last complete one.' }),
    lastSyncedAt: optional(time({ doc: 'When the last complete sync ended.' })),
    lastError: optional(string({ doc: 'Why the last sync failed, or what it waits for.' })),
    lastErrorAt: optional(time({ doc: 'When.' })),
    nextSyncAt: optional(time({ doc: 'When the product is asked again.' })),
  },
  { doc: 'An integration with a product of endpoint security.', schema: 'EndpointSecurity' },
);

/** Endpoint-security integration with its state, as responses show it. */
export type EndpointSecurity = ValueOf<typeof integration>;

const endpointSecurityExample = {
  ...{ vendor: 'vendor-a', kind: 'EdrVendorA', key: 'laptops', state: 'held' },
  message:
    'vendor A knows 120 devices, and knew 480 before: more than 20 % are gone; the verdicts before it stay; approve it if that is right',
  deciding: true,
  ...{ peers: { approved: 412, denied: 9, unchecked: 0 }, devices: 480, foundDevices: 120, failures: 1 },
  ...{ lastSyncedAt: '2026-01-02T03:04:05.000Z', lastErrorAt: '2026-01-02T03:09:12.000Z' },
  lastError:
    'vendor A knows 120 devices, and knew 480 before: more than 20 % are gone; the verdicts before it stay; approve it if that is right',
  nextSyncAt: '2026-01-02T03:14:20.000Z',
} as const;

const path = '/api/config/endpoint-security';
const params = { vendor: string({ doc: 'The name of the product in paths, such as `vendor-a`.' }) };
const update = { module: 'config', operation: 'update' } as const;

/** Operations on endpoint-security integrations: their states, and decisions of people about them. */
export const endpointSecurity = {
  list: defineOperation({
    id: 'listEndpointSecurity',
    method: 'GET',
    path,
    access: { module: 'config', operation: 'read' },
    summary: 'List integrations with endpoint security and how they fare',
    answer: list(integration, { doc: '' }),
    example: { answer: [endpointSecurityExample] },
  }),
  sync: defineOperation({
    id: 'syncEndpointSecurity',
    method: 'POST',
    path: `${path}/{vendor}/sync`,
    params,
    access: update,
    summary: 'Ask a product about all devices at once',
    doc: 'A server begins within seconds; the list says what came of it.',
    example: { params: { vendor: 'vendor-a' } },
  }),
  approve: defineOperation({
    id: 'approveEndpointSecurity',
    method: 'POST',
    path: `${path}/{vendor}/approve`,
    params,
    access: update,
    summary: 'Approve that a product knows far fewer devices than before',
    doc: 'A sync that loses more than 20 % of the devices keeps the verdicts before it until then. The next sync, which begins at once, is measured against as many devices as that one found.',
    answer: object(
      { devices: count({ doc: 'How many devices were found and are taken for right.' }) },
      { doc: 'What was approved.', schema: 'ApprovedDevices' },
    ),
    errors: ['precondition'],
    example: { params: { vendor: 'vendor-a' }, answer: { devices: 120 } },
  }),
};
