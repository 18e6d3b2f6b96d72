import { optional, time } from '../model/operation/fields.ts';
import { defineOperation } from '../model/operation/operation.ts';
import { integer, list, mapOf, object, string } from '../model/schema/field.ts';

const event = object(
  {
    id: integer({ doc: 'The number of the event; numbers grow.' }),
    timestamp: time({ doc: 'When it happened.' }),
    activity: string({ doc: 'What was done, for people.' }),
    activity_code: string({ doc: 'What was done, for programs.' }),
    initiator_id: string({ doc: 'The id of who did it.' }),
    initiator_name: string({ doc: 'The name of who did it.' }),
    initiator_email: string({ doc: 'The e-mail address of who did it; empty for programs.' }),
    target_id: string({ doc: 'The id of what it was done to.' }),
    meta: mapOf(string({ doc: '' }), { doc: 'More about it, by name.' }),
    request_id: optional(
      string({ doc: 'The `X-Request-Id` of the request that led to it; absent when the server did it by itself.' }),
    ),
  },
  { doc: 'Something that was done in the account.', schema: 'AuditEvent' },
);

const facts = {
  method: 'GET',
  access: { module: 'events', operation: 'read' },
  summary: 'List what was done in the account',
  doc: 'Newest first, at most 10,000; `before` gives what is older than an event.',
  query: { before: optional(integer({ doc: 'Only events with a smaller number.', minimum: 1 })) },
  answer: list(event, { doc: '' }),
  example: {
    answer: [
      {
        ...{ id: 7, timestamp: '2026-11-02T10:00:00.000Z', activity: 'Route created', activity_code: 'route.add' },
        ...{ initiator_id: 'ch8i4ug6lnn4g9hqv7p0', initiator_name: 'Ana Lima', initiator_email: 'ana@example.com' },
        ...{ target_id: 'ch8i4ug6lnn4g9hqv7m0', meta: { name: 'office' } },
        ...{ request_id: 'd2a0c3b4-5e6f-4a7b-8c9d-0e1f2a3b4c5d' },
      },
    ],
  },
} as const;

/** Operations that list the audit log. */
export const audit = {
  list: defineOperation({ ...facts, id: 'listAuditEvents', path: '/api/events/audit' }),
  /** Path that older clients use. */
  listByAlias: defineOperation({ ...facts, id: 'listEvents', path: '/api/events' }),
};
