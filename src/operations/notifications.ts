import { activities } from '../model/declare/activities.ts';
import { optional, time } from '../model/operation/fields.ts';
import { defineOperation } from '../model/operation/operation.ts';
import { list, mapOf, object, string } from '../model/schema/field.ts';
import { sample } from './config/deliveries.ts';

const keys = object(
  {
    account: string({ doc: 'The id of the account.' }),
    keys: list(
      object(
        {
          id: string({ doc: 'The id of the key.' }),
          key: string({ doc: 'The public key (Ed25519), as Standard Webhooks writes it.' }),
          created_at: time({ doc: 'Since when it signs.' }),
          retired_at: optional(time({ doc: 'Since when another one follows it; it signs along for a day.' })),
        },
        { doc: 'A key that signs.' },
      ),
      { doc: 'The newest first; none before the first webhook was sent.' },
    ),
  },
  { doc: 'By which keys webhooks of an account are signed.', schema: 'WebhookKeys' },
);

const keysExample = {
  account: 'ch8i4ug6lnn4g9hqv7a0',
  keys: [
    {
      ...{ id: 'ch8i4ug6lnn4g9hqv7mg', key: 'whpk_m1Vv4WbdRYDbVLgf8ccxTkkrp5pHQ2g5rXcW4ayq2Rk=' },
      created_at: '2026-01-02T03:04:05.000Z',
    },
  ],
};

const channels = '/api/integrations/notifications/channels';

/** Operations on notifications: event types, samples, and the keys that sign them. */
export const notifications = {
  listTypes: defineOperation({
    id: 'listNotificationTypes',
    method: 'GET',
    path: '/api/integrations/notifications/types',
    access: { module: 'notifications', operation: 'read' },
    summary: 'List what channels can report',
    doc: 'The code of every activity with what it means.',
    answer: mapOf(string({ doc: '' }), { doc: '' }),
    example: { answer: { 'user.join': activities['user.join'] ?? '' } },
  }),
  testChannel: defineOperation({
    id: 'testNotificationChannel',
    method: 'POST',
    path: `${channels}/{channelId}/test`,
    access: { module: 'notifications', operation: 'update' },
    summary: 'Send a sample to a channel',
    doc: 'Says whether the receiver took it. The sample is the audit event of this request; a channel that is disabled gets it too.',
    params: { channelId: string({ doc: 'The id of the channel.' }) },
    answer: sample,
    example: { answer: { delivered: false, message: 'hooks.example.com answers 503' } },
  }),
  rotateKey: defineOperation({
    id: 'rotateWebhookKey',
    method: 'POST',
    path: '/api/integrations/notifications/webhook-keys/rotate',
    access: { module: 'notifications', operation: 'update' },
    summary: 'Sign webhooks with a new key',
    doc: 'The former key signs along for a day, so that receivers have time to take the new one.',
    answer: keys,
    example: { answer: keysExample },
  }),
  readKeys: defineOperation({
    id: 'readWebhookKeys',
    method: 'GET',
    path: '/.well-known/heddle/webhook-keys.json',
    access: { open: 'shows public keys alone, of an account whose id the caller knows' },
    tag: 'notifications',
    summary: 'Read the public keys of webhooks',
    doc: 'Receivers verify signatures with them. Name the account whose webhooks you expect: an account that a message names itself proves nothing.',
    query: { account: string({ doc: 'The id of the account.' }) },
    answer: keys,
    example: { query: { account: 'ch8i4ug6lnn4g9hqv7a0' }, answer: keysExample },
  }),
};
