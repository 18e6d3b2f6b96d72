import { count, optional } from '../../model/operation/fields.ts';
import { defineOperation } from '../../model/operation/operation.ts';
import { boolean, integer, list, mapOf, object, oneOf, string, type ValueOf } from '../../model/schema/field.ts';
import { deliveryStates } from './deliveries.ts';
import { endpointSecurityStates } from './endpoint-security.ts';
import { source, sourceExample } from './sources.ts';

const troubledDelivery = object(
  {
    id: string({ doc: 'The id of the object that receives events.' }),
    kind: string({ doc: 'Its kind.' }),
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    type: string({ doc: 'Type of the receiver, such as `webhook`.' }),
    state: oneOf(deliveryStates, { doc: 'State in one word.' }),
    message: string({ doc: 'In a sentence.' }),
  },
  { doc: 'Deliveries that fail, are over five minutes behind, or have events that were set aside.' },
);

const troubledIntegration = object(
  {
    vendor: string({ doc: 'The name of the product in paths, such as `vendor-a`.' }),
    kind: string({ doc: 'The kind of the integration.' }),
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    state: oneOf(endpointSecurityStates, { doc: 'State in one word.' }),
    message: string({ doc: 'In a sentence.' }),
  },
  { doc: 'Integrations with products that cannot be queried, or with an answer that waits for an approval.' },
);

/** Problems that an integration with an identity provider may have. */
const providerTroubles = ['failing', 'held', 'expiring'] as const;

const troubledProvider = object(
  {
    id: string({ doc: 'The id of the integration.' }),
    kind: string({ doc: 'Its kind.' }),
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    state: oneOf(providerTroubles, {
      doc: 'State in one word. `failing`: syncs fail. `held`: a plan waits for an approval. `expiring`: the secret expires soon.',
    }),
    message: string({ doc: 'In a sentence.' }),
  },
  { doc: 'A problem of an integration that provisions users and groups.' },
);

const troubledIngressPeer = object(
  {
    id: string({ doc: 'The id of the ingress peer.' }),
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    message: string({ doc: 'In a sentence: which peer is offline, and which other peer forwards its ports.' }),
  },
  { doc: 'An ingress peer that has ports and is offline.' },
);

const troubledDomain = object(
  {
    id: string({ doc: 'The id of the domain.' }),
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    domain: string({ doc: 'The domain.' }),
    message: string({ doc: 'In a sentence: which record is expected, and what was found.' }),
  },
  { doc: 'A custom domain of reverse proxies with a record that was not found.' },
);

const accountStatus = object(
  {
    account: string({ doc: 'The id of the account.' }),
    revision: count({ doc: 'The revision of the account.' }),
    version: string({ doc: 'The release of the server.' }),
    database: string({ doc: 'Database that the server uses.' }),
    objects: mapOf(integer({ doc: '' }), { doc: 'Number of objects by kind.' }),
    sources: list(source, { doc: '' }),
    accessTests: optional(
      object(
        {
          passed: count({ doc: 'Tests that pass.' }),
          failed: count({ doc: 'Tests that fail.' }),
          conditional: count({ doc: 'Tests with an outcome that depends on posture checks.' }),
        },
        { doc: 'Results of its access tests; absent when there are none.' },
      ),
    ),
    deliveries: optional(
      list(troubledDelivery, { doc: 'Deliveries of events that need attention; absent when there are none.' }),
    ),
    endpointSecurity: optional(
      list(troubledIntegration, {
        doc: 'Integrations with endpoint security that need attention; absent when there are none.',
      }),
    ),
    provisioning: optional(
      list(troubledProvider, {
        doc: 'Problems of integrations that provision users and groups, from directories and over SCIM; absent when there are none.',
      }),
    ),
    ingress: optional(
      list(troubledIngressPeer, { doc: 'Offline ingress peers that have ports; absent when there are none.' }),
    ),
    domains: optional(
      list(troubledDomain, { doc: 'Custom domains with a record that was not found; absent when there are none.' }),
    ),
  },
  { doc: 'Status of the account.', schema: 'Status' },
);

/** Status of the account. */
export type AccountStatus = ValueOf<typeof accountStatus>;

const unreadableSecret = object(
  {
    what: string({ doc: 'Type of the thing that the secret belongs to, in one word.' }),
    account: optional(string({ doc: 'Account of the secret; absent for secrets of the server itself.' })),
    object: string({ doc: 'Id of the object or other thing that the secret belongs to.' }),
    path: string({ doc: 'Field of the object; empty when the secret belongs to another thing.' }),
    reason: string({ doc: 'Why it cannot be opened.' }),
  },
  { doc: 'A stored secret that cannot be opened.' },
);

/**
 * Operations that read the status of the account, seal secrets under the newest key, and replace the signing key of the
 * embedded identity provider.
 */
export const status = {
  read: defineOperation({
    id: 'readStatus',
    method: 'GET',
    path: '/api/config/status',
    access: { module: 'config', operation: 'read' },
    summary: 'Read the status of the account and its sources',
    answer: accountStatus,
    example: {
      answer: {
        account: 'ch8i4ug6lnn4g9hqv7a0',
        ...{ revision: 18, version: '0.1.0', database: 'postgres', objects: { Group: 7, Peer: 25, Policy: 6 } },
        sources: [sourceExample],
        deliveries: [
          {
            ...{ id: 'ch8i4ug6lnn4g9hqv7mg', kind: 'NotificationChannel', key: 'network-chat', type: 'webhook' },
            ...{ state: 'paused', message: 'paused: chat.example.com answers 401; 12 events wait' },
          },
        ],
      },
    },
  }),
  rotateSecrets: defineOperation({
    id: 'rotateSecrets',
    method: 'POST',
    path: '/api/config/secrets/rotate',
    access: 'operator',
    tag: 'config',
    summary: 'Seal all secrets again under the newest key',
    doc: 'Returns the number of rows written, and the stored secrets that no key of the server can open: these stay unchanged, and no other secret depends on them. Afterwards older keys are no longer needed, and the format in which earlier releases sealed secrets is refused.',
    bodySchema: 'RotateSecretsRequest',
    body: {
      acceptUnbound: boolean({ doc: 'Whether this request accepts the format of earlier releases.', default: false }),
    },
    optionalBody: true,
    answer: object(
      {
        rows: integer({ doc: 'Number of rows written.' }),
        unreadable: list(unreadableSecret, { doc: 'Secrets that cannot be opened, at most the first thousand.' }),
        unreadableCount: integer({ doc: 'Number of secrets that cannot be opened.' }),
      },
      { doc: 'Result of sealing the secrets again.', schema: 'RotatedSecrets' },
    ),
    errors: ['precondition'],
    example: {
      body: {},
      answer: {
        rows: 128,
        unreadable: [
          {
            ...{ what: 'object', account: 'c7g0ac2pjhspd6ljvpb0', object: 'c7g0ac2pjhspd6ljvpc0' },
            ...{ path: 'target.headers.Authorization' },
            reason:
              'a secret is sealed with the key 0a1b2c3d4e5f, which this server does not have; give it that key too',
          },
        ],
        unreadableCount: 1,
      },
    },
  }),
  rotateIdpKeys: defineOperation({
    id: 'rotateIdpKeys',
    method: 'POST',
    path: '/api/config/idp/rotate',
    access: 'operator',
    tag: 'config',
    summary: 'Sign tokens of the embedded identity provider with a new key',
    doc: 'Returns the id of the new key. What the previous key signed stays valid until it expires.',
    answer: object({ key: string({ doc: 'The id of the new key.' }) }, { doc: 'The key.', schema: 'RotatedKey' }),
    errors: ['precondition'],
    example: { answer: { key: 'q8vJ2rT0x1sLw5Zk' } },
  }),
};
