import { eventFeeds } from '../../model/declare/list-words.ts';
import { count, optional, time } from '../../model/operation/fields.ts';
import { defineOperation } from '../../model/operation/operation.ts';
import { boolean, integer, list, object, oneOf, string, type ValueOf } from '../../model/schema/field.ts';

/** States of a delivery. */
export const deliveryStates = ['idle', 'delivering', 'retrying', 'paused', 'disabled'] as const;

const setAsideEvent = object(
  {
    feed: oneOf(eventFeeds, { doc: 'Origin of the event: the audit log, or the records of traffic or of proxies.' }),
    event: integer({ doc: 'Number of the event in its origin.' }),
    activity_code: string({ doc: 'What happened.' }),
    reason: string({ doc: 'Reason why the receiver refused the event.' }),
    at: time({ doc: 'When it was set aside.' }),
    retrying: boolean({ doc: 'Whether it is about to be sent again.' }),
  },
  { doc: 'An event that the receiver refused because of its content.' },
);

const delivery = object(
  {
    id: string({ doc: 'The id of the object that receives events.' }),
    kind: string({ doc: 'Its kind.' }),
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    type: string({ doc: 'Type of the receiver, such as `webhook`.' }),
    state: oneOf(deliveryStates, { doc: 'State in one word.' }),
    message: string({ doc: 'In a sentence.' }),
    cursor: integer({ doc: 'Number of the last event that was processed.' }),
    lag: object(
      {
        events: count({ doc: 'Number of waiting events; 10,000 means 10,000 or more.' }),
        seconds: count({ doc: 'Age of the oldest waiting event, in seconds.' }),
      },
      { doc: 'What waits.' },
    ),
    failures: count({ doc: 'Number of failed attempts since the last successful one.' }),
    lastSuccessAt: optional(time({ doc: 'Time at which the receiver last accepted something.' })),
    lastError: optional(string({ doc: 'Reason why the last failed attempt failed.' })),
    lastErrorAt: optional(time({ doc: 'When.' })),
    nextAttemptAt: optional(time({ doc: 'Time of the next attempt.' })),
    setAsideCount: count({ doc: 'Number of events that were set aside.' }),
    setAside: list(setAsideEvent, { doc: 'The first 100 of them.' }),
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
const itemPath = `${path}/{id}` as const;
const params = { id: string({ doc: 'The id of the object that receives events.' }) };
const update = { module: 'config', operation: 'update' } as const;
const query = {
  event: optional(integer({ doc: 'Number of the event. Absent: all events that were set aside.', minimum: 1 })),
  feed: optional(oneOf(eventFeeds, { doc: 'Origin of the event. Absent: the audit log.' })),
};

/** Result of a sample delivery. */
export const sampleResult = object(
  {
    delivered: boolean({ doc: 'Whether the receiver accepted the sample.' }),
    message: string({ doc: 'Answer of the receiver, as a sentence.' }),
  },
  { doc: 'Result of sending a sample.', schema: 'ChannelTest' },
);

/** Operations on deliveries of events to receivers, such as notification channels. */
export const deliveries = {
  list: defineOperation({
    id: 'listDeliveries',
    method: 'GET',
    path,
    access: { module: 'config', operation: 'read' },
    summary: 'List the deliveries of events with their states',
    answer: list(delivery, { doc: '' }),
    example: { answer: [example] },
  }),
  resume: defineOperation({
    id: 'resumeDelivery',
    method: 'POST',
    path: `${itemPath}/resume`,
    params,
    access: update,
    summary: 'Try a delivery again at once',
    doc: 'Works also for a paused delivery. With `since`, it restarts at that time, as far back as the audit log reaches: events since then are sent, even if they were sent already, and earlier events that still wait are not sent.',
    query: { since: optional(time({ doc: 'Time from which on events are sent.' })) },
    example: { query: { since: '2026-01-02T03:00:00Z' } },
  }),
  retry: defineOperation({
    id: 'retrySetAsideEvents',
    method: 'POST',
    path: `${itemPath}/retry`,
    params,
    access: update,
    summary: 'Send events again that were set aside',
    query,
    example: { query: { event: 4102 } },
  }),
  discard: defineOperation({
    id: 'discardSetAsideEvents',
    method: 'POST',
    path: `${itemPath}/discard`,
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
    path: `${itemPath}/test`,
    params,
    access: update,
    summary: 'Send a sample to a receiver',
    doc: 'Reports whether the receiver accepted it. The sample is the audit event of this request; a disabled receiver gets it too.',
    answer: sampleResult,
    example: { answer: { delivered: false, message: 'logs.example.com answers 503' } },
  }),
};
