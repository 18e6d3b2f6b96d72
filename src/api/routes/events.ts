import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Engine } from '../../engine/engine.ts';
import { type EventReader, readEvents } from '../../engine/events.ts';
import { createNews, type News } from '../../engine/news.ts';
import { Unavailable } from '../../model/errors.ts';
import { operation, query, textual } from '../../model/lower/openapi-operation.ts';
import type { AreaRoutes } from '../area-routes.ts';
import { callOf } from '../authenticate.ts';
import { type EventStream, openEventStream } from '../event-stream.ts';

const path = '/api/config/events';

const example =
  'id: 18:1\nevent: revision\ndata: {"revision":18,"created_at":"2026-01-02T03:04:05.000Z","actor":{"type":"source","id":"office","name":"office"}}\n\n';

/** What happens in an account, as a stream that can be taken up again where it was left. */
export const events: AreaRoutes = {
  add(app, engine) {
    const news = createNews(engine);
    const streams = new Set<EventStream>();
    app.addHook('preClose', async () => {
      for (const stream of streams) stream.end();
      news.close();
    });
    addStream(app, engine, news, streams);
  },
  paths: {
    [path]: {
      get: operation({
        id: 'streamEvents',
        tag: 'config',
        summary: 'Follow what happens, as Server-Sent Events',
        description:
          'Of every revision its `change` events in their order, then a `revision` event; a `notice` is about sources and plans. The id of each is its place, `revision:seq`: send the last one as `Last-Event-ID` or `after` to go on behind it. Without, the stream begins now.',
        parameters: [query('after', 'The place behind which to begin.')],
        answer: textual('text/event-stream', example),
        errors: [401, 403, 404, 422, 429, 503],
      }),
    },
  },
};

function addStream(app: FastifyInstance, engine: Engine, news: News, streams: Set<EventStream>): void {
  app.get(path, async (request, reply) => {
    const call = callOf(request);
    const reader = await readEvents(engine, call, startOf(request));
    const stream = openEventStream(reply);
    streams.add(stream);
    try {
      await pump(reader, stream, (wake) => news.follow(call.account, { wake, gone: () => stream.end() }));
    } catch (error) {
      // The head is sent: all that can be said is the end of the stream. The reader comes back and is told why.
      if (!(error instanceof Unavailable)) throw error;
    } finally {
      streams.delete(stream);
      stream.end();
    }
  });
}

/** Sends what happened, then waits for news, until the stream ends. A store that is away ends it: the reader comes back. */
async function pump(reader: EventReader, stream: EventStream, follow: (wake: () => void) => () => void): Promise<void> {
  let wake = (): void => undefined;
  let news = true;
  const unfollow = follow(() => {
    news = true;
    wake();
  });
  stream.signal.addEventListener('abort', () => wake());
  try {
    while (!stream.signal.aborted) {
      news = false;
      for (let page = await reader.next(); page.length > 0; page = await reader.next()) await stream.send(page);
      if (news || stream.signal.aborted) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    unfollow();
  }
}

function startOf(request: FastifyRequest): string | undefined {
  const last = request.headers['last-event-id'];
  const { after } = request.query as { readonly after?: unknown };
  const given = typeof last === 'string' && last !== '' ? last : after;
  return typeof given === 'string' && given !== '' ? given : undefined;
}
