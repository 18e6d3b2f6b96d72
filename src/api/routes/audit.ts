import { readAuditEvents } from '../../features/logs/audit.ts';
import type { JsonObject } from '../../lib/json.ts';
import { header, json, operation, query } from '../../model/lower/openapi/operation.ts';
import { sendLong } from '../answers/answers.ts';
import type { AreaRoutes } from '../area-routes.ts';
import { callOf } from '../authenticate.ts';
import { queryOf, wholeNumber } from '../config/request.ts';

const path = '/api/events/audit';
/** By which older clients know it. */
const alias = '/api/events';

/** Who did what in the account. */
export const audit: AreaRoutes = {
  add(app, engine) {
    for (const url of [path, alias]) {
      app.get(url, { config: { access: { module: 'events', operation: 'read' } } }, async (request, reply) => {
        const { before } = queryOf(request);
        const place = before === undefined ? undefined : wholeNumber('before', before);
        const body = await readAuditEvents(engine, callOf(request), place);
        return sendLong(request, reply, { version: Number(body[0]?.['id'] ?? 0), body });
      });
    }
  },
  paths: { [path]: { get: describe('listAuditEvents') }, [alias]: { get: describe('listEvents') } },
};

function describe(id: string): JsonObject {
  const text = (description: string) => ({ type: 'string', description });
  const properties = {
    id: { type: 'integer', description: 'The number of the event; numbers grow.' },
    timestamp: { type: 'string', format: 'date-time', description: 'When it happened.' },
    activity: text('What was done, for people.'),
    activity_code: text('What was done, for programs.'),
    initiator_id: text('The id of who did it.'),
    initiator_name: text('The name of who did it.'),
    initiator_email: text('The e-mail address of who did it; empty for programs.'),
    target_id: text('The id of what it was done to.'),
    meta: { type: 'object', additionalProperties: { type: 'string' }, description: 'More about it, by name.' },
  };
  const event = { type: 'object', required: Object.keys(properties), properties };
  const who = { initiator_id: 'ch8i4ug6lnn4g9hqv7p0', initiator_name: 'Ana Lima', initiator_email: 'ana@example.com' };
  return operation({
    id,
    tag: 'events',
    summary: 'List what was done in the account',
    description: 'Newest first, at most 10,000; `before` gives what is older than an event.',
    parameters: [
      header('IfNoneMatch'),
      query('before', 'Only events with a smaller number.', { type: 'integer', minimum: 1 }),
    ],
    answer: json({ type: 'array', items: event }, [
      {
        ...{ id: 7, timestamp: '2026-11-02T10:00:00.000Z', activity: 'Route created', activity_code: 'route.add' },
        ...who,
        ...{ target_id: 'ch8i4ug6lnn4g9hqv7m0', meta: { name: 'office' } },
      },
    ]),
    headers: ['ETag'],
    unchanged: true,
    errors: [401, 403, 422, 429, 503],
  });
}
