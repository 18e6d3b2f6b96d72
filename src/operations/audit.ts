import { optional, time } from '../model/operation/fields.ts';
import { defineOperation } from '../model/operation/operation.ts';
import { integer, list, mapOf, object, string } from '../model/schema/field.ts';

const event = object(
  {
    id: integer({ doc: 'Number of the event. Later events have higher numbers.' }),
    timestamp: time({ doc: 'Time of the event.' }),
    activity: string({ doc: 'Description of the action, for people.' }),
    activity_code: string({ doc: 'Code of the action, for programs.' }),
    initiator_id: string({ doc: 'Id of the actor.' }),
    initiator_name: string({ doc: 'Name of the actor.' }),
    initiator_email: string({ doc: 'E-mail address of the actor; empty for programs.' }),
    target_id: string({ doc: 'Id of the target of the action.' }),
    meta: mapOf(string({ doc: '' }), { doc: 'Further details, by name.' }),
    request_id: optional(
      string({ doc: '`X-Request-Id` of the request that caused the event. Absent when the server acted by itself.' }),
    ),
  },
  { doc: 'Audit event of the account.', schema: 'AuditEvent' },
);

const commonDeclaration = {
  method: 'GET',
  access: { module: 'events', operation: 'read' },
  summary: 'List the audit events of the account',
  doc: 'Newest first, at most 10,000; `before` selects events older than a given one.',
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
  list: defineOperation({ ...commonDeclaration, id: 'listAuditEvents', path: '/api/events/audit' }),
  /** Path that older clients use. */
  listByAlias: defineOperation({ ...commonDeclaration, id: 'listEvents', path: '/api/events' }),
};
