import { optional } from '../../model/operation/fields.ts';
import { defineOperation } from '../../model/operation/operation.ts';
import { string } from '../../model/schema/field.ts';

const revision = {
  ...{ revision: 18, created_at: '2026-01-02T03:04:05.000Z' },
  actor: { type: 'source', id: 'office', name: 'office' },
};

/** Operation that streams the events of an account. */
export const events = {
  stream: defineOperation({
    id: 'streamEvents',
    method: 'GET',
    path: '/api/config/events',
    access: { module: 'config', operation: 'read' },
    summary: 'Follow what happens, as Server-Sent Events',
    doc: 'Of every revision its `change` events in their order, then a `revision` event; a `notice` is about sources and plans. The id of each is its place, `revision:seq`: send the last one as `Last-Event-ID` or `after` to go on behind it. Without, the stream begins now. A place behind which something is not kept any more is answered with 410 and the oldest place that is left.',
    query: { after: optional(string({ doc: 'The place behind which to begin.' })) },
    answer: string({ doc: '' }),
    answerType: 'text/event-stream',
    uncached: true,
    errors: ['not_found', 'gone', 'invalid'],
    example: { answer: `id: 18:1\nevent: revision\ndata: ${JSON.stringify(revision)}\n\n` },
  }),
};
