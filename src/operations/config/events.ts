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
    summary: 'Stream the events of the account as Server-Sent Events',
    doc: 'For each revision, its `change` events are sent in order, then a `revision` event; a `notice` event is about sources and plans. The id of each event is its position, `revision:seq`: send the last one as `Last-Event-ID` or `after` to continue after it. Without a position, the stream starts with new events. When events after the position are not kept any more, the answer is 410 with the oldest position that is available.',
    query: { after: optional(string({ doc: 'Position after which to start.' })) },
    answer: string({ doc: '' }),
    answerType: 'text/event-stream',
    withoutEtag: true,
    errors: ['not_found', 'gone', 'invalid'],
    example: { answer: `id: 18:1\nevent: revision\ndata: ${JSON.stringify(revision)}\n\n` },
  }),
};
