import { activities } from '../model/declare/activities.ts';
import { optional, time } from '../model/operation/fields.ts';
import { defineOperation } from '../model/operation/operation.ts';
import { list, mapOf, object, string } from '../model/schema/field.ts';
import { sampleResult } from './config/deliveries.ts';

const keys = object(
  {
    account: string({ doc: 'The id of the account.' }),
    keys: list(
      object(
        {
          id: string({ doc: 'The id of the key.' }),
          key: string({ doc: 'Public key (Ed25519), in the format of Standard Webhooks.' }),
          created_at: time({ doc: 'Time since which it signs.' }),
          retired_at: optional(
            time({ doc: 'Time at which a newer key replaced it; it still signs for a day after that.' }),
          ),
        },
        { doc: 'A signing key.' },
      ),
      { doc: 'Keys, newest first; empty before the first webhook was sent.' },
    ),
  },
  { doc: 'Keys that sign the webhooks of an account.', schema: 'WebhookKeys' },
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

const channelsPath = '/api/integrations/notifications/channels';

/** Operations on notifications: event types, samples, and the keys that sign them. */
export const notifications = {
  listTypes: defineOperation({
    id: 'listNotificationTypes',
    method: 'GET',
    path: '/api/integrations/notifications/types',
    access: { module: 'notifications', operation: 'read' },
    summary: 'List the activities that channels can report',
    doc: 'Code of each activity, with its meaning.',
    answer: mapOf(string({ doc: '' }), { doc: '' }),
    example: { answer: { 'user.join': activities['user.join'] ?? '' } },
  }),
  testChannel: defineOperation({
    id: 'testNotificationChannel',
    method: 'POST',
    path: `${channelsPath}/{channelId}/test`,
    access: { module: 'notifications', operation: 'update' },
    summary: 'Send a sample to a channel',
    doc: 'The answer shows whether the receiver accepted it. The sample is the audit event of this request; a disabled channel gets it too.',
    params: { channelId: string({ doc: 'The id of the channel.' }) },
    answer: sampleResult,
    example: { answer: { delivered: false, message: 'hooks.example.com answers 503' } },
  }),
  rotateKey: defineOperation({
    id: 'rotateWebhookKey',
    method: 'POST',
    path: '/api/integrations/notifications/webhook-keys/rotate',
    access: { module: 'notifications', operation: 'update' },
    summary: 'Sign webhooks with a new key',
    doc: 'The previous key also signs for a day, so that receivers have time to switch to the new one.',
    answer: keys,
    example: { answer: keysExample },
  }),
  readKeys: defineOperation({
    id: 'readWebhookKeys',
    method: 'GET',
    path: '/.well-known/heddle/webhook-keys.json',
    access: { open: 'shows only public keys, to callers that know the id of the account' },
    tag: 'notifications',
    summary: 'Read the public keys of webhooks',
    doc: 'Receivers verify signatures with them. Request the keys of the account from which you expect webhooks: an account id in the message itself proves nothing.',
    query: { account: string({ doc: 'The id of the account.' }) },
    answer: keys,
    example: { query: { account: 'ch8i4ug6lnn4g9hqv7a0' }, answer: keysExample },
  }),
};
