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
      doc: 'State in one word: `waiting` for the first complete sync, `synced`, `failing` while the earlier verdicts still apply, `held` until a person approves that devices are gone, `untrusted` when verdicts are too old to apply, or `disabled`.',
    }),
    message: string({ doc: 'In a sentence.' }),
    deciding: boolean({ doc: 'Whether it can deny access to peers; true from the first complete sync on.' }),
    peers: object(
      {
        approved: count({ doc: 'Number of peers of its groups that it admits.' }),
        denied: count({ doc: 'Number of peers of its groups that it keeps out.' }),
        unchecked: count({ doc: 'Number of peers of its groups that the product has not been asked about yet.' }),
      },
      { doc: 'Decisions about peers.' },
    ),
    devices: optional(count({ doc: 'Number of devices that the last complete sync found.' })),
    foundDevices: optional(count({ doc: 'Number of devices found by a sync that waits for an approval.' })),
    failures: count({ doc: 'Number of failed syncs since the last complete one.' }),
    lastSyncedAt: optional(time({ doc: 'Time at which the last complete sync ended.' })),
    lastError: optional(string({ doc: 'Why the last sync failed, or what it waits for.' })),
    lastErrorAt: optional(time({ doc: 'When.' })),
    nextSyncAt: optional(time({ doc: 'Time of the next sync.' })),
  },
  { doc: 'An integration with an endpoint-security product.', schema: 'EndpointSecurity' },
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
    summary: 'List endpoint-security integrations with their states',
    answer: list(integration, { doc: '' }),
    example: { answer: [endpointSecurityExample] },
  }),
  sync: defineOperation({
    id: 'syncEndpointSecurity',
    method: 'POST',
    path: `${path}/{vendor}/sync`,
    params,
    access: update,
    summary: 'Start a sync of all devices of a product now',
    doc: 'A server starts within seconds; the list shows the result.',
    example: { params: { vendor: 'vendor-a' } },
  }),
  approve: defineOperation({
    id: 'approveEndpointSecurity',
    method: 'POST',
    path: `${path}/{vendor}/approve`,
    params,
    access: update,
    summary: 'Approve that a product knows far fewer devices than before',
    doc: 'A sync that loses more than 20 % of the devices keeps the earlier verdicts until it is approved. The next sync starts at once and is compared with the number of devices that the held sync found.',
    answer: object(
      { devices: count({ doc: 'Number of devices that were found and are now approved.' }) },
      { doc: 'Result of the approval.', schema: 'ApprovedDevices' },
    ),
    errors: ['precondition'],
    example: { params: { vendor: 'vendor-a' }, answer: { devices: 120 } },
  }),
};
