import { eventFeeds } from '../../model/declare/list-words.ts';
import { count, optional, time } from '../../model/operation/fields.ts';
import { defineOperation } from '../../model/operation/operation.ts';
import { boolean, integer, list, object, oneOf, string, type ValueOf } from '../../model/schema/field.ts';

/** States of a delivery. */
export const deliveryStates = ['idle', 'delivering', 'retrying', 'paused', 'disabled'] as const;

const setAside = object(
  {
    feed: oneOf(eventFeeds, { doc: 'Where the event is from: the audit log, or records of traffic or of proxies.' }),
    event: integer({ doc: 'The number of the event there.' }),
    activity_code: string({ doc: 'What happened.' }),
    reason: string({ doc: 'Why the receiver did not take it.' }),
    at: time({ doc: 'When it was set aside.' }),
    retrying: boolean({ doc: 'Whether it is about to be sent again.' }),
  },
  { doc: 'An event that the receiver refused for what is in it.' },
);

const delivery = object(
  {
    id: string({ doc: 'The id of the object that receives events.' }),
    kind: string({ doc: 'Its kind.' }),
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    type: string({ doc: 'How it receives them, such as `webhook`.' }),
    state: oneOf(deliveryStates, { doc: 'In one word.' }),
    message: string({ doc: 'In a sentence.' }),
    cursor: integer({ doc: 'The number of the last event that is done with.' }),
    lag: object(
      {
        events: count({ doc: 'How many events wait; 10,000 stands for more.' }),
        seconds: count({ doc: 'How long the oldest of them has waited.' }),
      },
      { doc: 'What waits.' },
    ),
    failures: count({ doc: 'How many attempts failed since the last one that did not.' }),
    lastSuccessAt: optional(time({ doc: 'When the receiver last took something.' })),
    lastError: optional(string({ doc: 'Why the last attempt failed that did.' })),
    lastErrorAt: optional(time({ doc: 'When.' })),
    nextAttemptAt: optional(time({ doc: 'When it is tried again.' })),
    setAsideCount: count({ doc: 'How many events were set aside.' }),
    setAside: list(setAside, { doc: 'The first 100 of them.' }),
  },
  { doc: 'Deliveries of events to one receiver.', schema: 'Delivery' },
);

/** Deliveries of events to one receiver, as responses show them. */
export type Delivery = ValueOf<typeof delivery>;

const example = {
  ...{ id: 'ch8i4ug6lnn4g9hqv7mg', kind: 'NotificationChannel', key: 'network-chat', type: 'webhook' },
  ...{ state: 'paused', message: 'paused: chat.example.com answers 401; see whether its credentials are right' },
  ...{ cursor: 4711, lag: { events: 12, seconds: 340 }, failures: 1, lastSuccessAt: '2026-01-02T03:04:05.000Z' },
  ...{ lastError: 'chat.example.com answers 401; see whether its credentials are right' },
  ...{ lastErrorAt: '2026-01-02T03:10:05.000Z', nextAttemptAt: '2026-01-02T04:10:05.000Z' },
  setAsideCount: 1,
  setAside: [
    {
      ...{ feed: 'audit', event: 4102, activity_code: 'policy.update', reason: 'chat.example.com answers 422' },
      ...{ at: '2026-01-01T22:00:00.000Z', retrying: false },
    },
  ],
};

const path = '/api/config/deliveries';
const one = `${path}/{id}` as const;
const params = { id: string({ doc: 'The id of the object that receives events.' }) };
const update = { module: 'config', operation: 'update' } as const;
const query = {
  event: optional(integer({ doc: 'The number of the event; all of them without it.', minimum: 1 })),
  feed: optional(oneOf(eventFeeds, { doc: 'Where the event is from; the audit log without it.' })),
};

/** Result of a sample delivery. */
export const sample = object(
  {
    delivered: boolean({ doc: 'Whether the receiver took it.' }),
    message: string({ doc: 'What it answered, in a sentence.' }),
  },
  { doc: 'What came of a sample.', schema: 'ChannelTest' },
);

/** Operations on deliveries of events to receivers, such as notification channels. */
export const deliveries = {
  list: defineOperation({
    id: 'listDeliveries',
    method: 'GET',
    path,
    access: { module: 'config', operation: 'read' },
    summary: 'List deliveries of events and how they fare',
    answer: list(delivery, { doc: '' }),
    example: { answer: [example] },
  }),
  resume: defineOperation({
    id: 'resumeDelivery',
    method: 'POST',
    path: `${one}/resume`,
    params,
    access: update,
    summary: 'Try a delivery again at once',
    doc: 'Also one that is paused. With `since` it begins with what happened at that time, as far back as the audit log goes: events since then are sent, again if they were sent already, and those before it that still wait are not.',
    query: { since: optional(time({ doc: 'Begin with what happened then.' })) },
    example: { query: { since: '2026-01-02T03:00:00Z' } },
  }),
  retry: defineOperation({
    id: 'retrySetAsideEvents',
    method: 'POST',
    path: `${one}/retry`,
    params,
    access: update,
    summary: 'Send events again that were set aside',
    query,
    example: { query: { event: 4102 } },
  }),
  discard: defineOperation({
    id: 'discardSetAsideEvents',
    method: 'POST',
    path: `${one}/discard`,
    params,
    access: update,
    summary: 'Discard events that were set aside',
    doc: 'They are not sent any more; the audit log keeps them.',
    query,
    example: { query: { event: 4102 } },
  }),
  test: defineOperation({
    id: 'testDelivery',
    method: 'POST',
    path: `${one}/test`,
    params,
    access: update,
    summary: 'Send a sample to a receiver',
    doc: 'Says whether the receiver took it. The sample is the audit event of this request; a receiver that is disabled gets it too.',
    answer: sample,
    example: { answer: { delivered: false, message: 'logs.example.com answers 503' } },
  }),
};
