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
    type: string({ doc: 'How it receives them, such as `webhook`.' }),
    state: oneOf(deliveryStates, { doc: 'In one word.' }),
    message: string({ doc: 'In a sentence.' }),
  },
  { doc: 'Deliveries that fail, are over five minutes behind, or have events that were set aside.' },
);

const troubledIntegration = object(
  {
    vendor: string({ doc: 'The name of the product in paths, such as `vendor-a`.' }),
    kind: string({ doc: 'The kind of the integration.' }),
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    state: oneOf(endpointSecurityStates, { doc: 'In one word.' }),
    message: string({ doc: 'In a sentence.' }),
  },
  { doc: 'Integrations with products that cannot be asked, or whose answer waits for an approval.' },
);

/** Problems that an integration with an identity provider may have. */
const providerTroubles = ['failing', 'held', 'expiring'] as const;

const troubledProvider = object(
  {
    id: string({ doc: 'The id of the integration.' }),
    kind: string({ doc: 'Its kind.' }),
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    state: oneOf(providerTroubles, {
      doc: 'In one word: `failing` when syncs fail, `held` when a plan waits for an approval, `expiring` when the secret ends soon.',
    }),
    message: string({ doc: 'In a sentence.' }),
  },
  { doc: 'Something that is amiss with an integration that brings users and groups.' },
);

const troubledIngressPeer = object(
  {
    id: string({ doc: 'The id of the ingress peer.' }),
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    message: string({ doc: 'In a sentence: which peer is offline, and who forwards its ports meanwhile.' }),
  },
  { doc: 'An ingress peer with ports whose peer is offline.' },
);

const troubledDomain = object(
  {
    id: string({ doc: 'The id of the domain.' }),
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    domain: string({ doc: 'The domain.' }),
    message: string({ doc: 'In a sentence: which record is expected, and what was found.' }),
  },
  { doc: 'A custom domain of reverse proxies whose record was not found.' },
);

const standing = object(
  {
    account: string({ doc: 'The id of the account.' }),
    revision: count({ doc: 'The revision of the account.' }),
    version: string({ doc: 'The release of the server.' }),
    database: string({ doc: 'Which database it works on.' }),
    objects: mapOf(integer({ doc: '' }), { doc: 'How many objects there are of each kind.' }),
    sources: list(source, { doc: '' }),
    accessTests: optional(
      object(
        {
          passed: count({ doc: 'Tests that pass.' }),
          failed: count({ doc: 'Tests that fail.' }),
          conditional: count({ doc: 'Tests whose outcome depends on posture checks.' }),
        },
        { doc: 'How its access tests fare; absent when there are none.' },
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
        doc: 'What is amiss with integrations that bring users and groups, from directories and over SCIM; absent when nothing is.',
      }),
    ),
    ingress: optional(
      list(troubledIngressPeer, { doc: 'Ingress peers with ports that are offline; absent when there are none.' }),
    ),
    domains: optional(
      list(troubledDomain, { doc: 'Custom domains whose record was not found; absent when there are none.' }),
    ),
  },
  { doc: 'How the account stands.', schema: 'Status' },
);

/** Status of the account. */
export type AccountStatus = ValueOf<typeof standing>;

const unreadable = object(
  {
    what: string({ doc: 'What the secret belongs to, in a word.' }),
    account: optional(string({ doc: 'The account; absent for what is of the server itself.' })),
    object: string({ doc: 'The id of the object, or of what else the secret belongs to.' }),
    path: string({ doc: 'The field of the object; empty elsewhere.' }),
    reason: string({ doc: 'Why it does not open.' }),
  },
  { doc: 'A stored secret that does not open.' },
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
    summary: 'Say how the account and its sources stand',
    answer: standing,
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
    doc: 'Says how many rows were written, and which stored secrets do not open with any key of the server: these stay as they are, and none of the others depends on them. Afterwards older keys are not needed any more, and the form in which earlier releases sealed is refused.',
    bodySchema: 'RotateSecretsRequest',
    body: {
      acceptUnbound: boolean({ doc: 'Whether the form of earlier releases is taken once more.', default: false }),
    },
    optionalBody: true,
    answer: object(
      {
        rows: integer({ doc: 'How many rows were written.' }),
        unreadable: list(unreadable, { doc: 'The first of them when there are more than a thousand.' }),
        unreadableCount: integer({ doc: 'How many do not open.' }),
      },
      { doc: 'What sealing again came to.', schema: 'RotatedSecrets' },
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
    doc: 'Says which. What the key before it signed stays good until it ends.',
    answer: object({ key: string({ doc: 'The id of the new key.' }) }, { doc: 'The key.', schema: 'RotatedKey' }),
    errors: ['precondition'],
    example: { answer: { key: 'q8vJ2rT0x1sLw5Zk' } },
  }),
};
