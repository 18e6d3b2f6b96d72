import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Call, Engine } from '../../commit/engine.ts';
import { type AccountWatch, createAccountWatch } from '../../features/logs/account-watch.ts';
import { type EventReader, readEvents } from '../../features/logs/events.ts';
import { HeddleError } from '../../model/errors.ts';
import { operation, query, textual } from '../../model/lower/openapi/operation.ts';
import { type EventStream, openEventStream } from '../answers/event-stream.ts';
import type { AreaRoutes } from '../area-routes.ts';
import { authorize, callOf } from '../authenticate.ts';

const path = '/api/config/events';

const example =
  'id: 18:1\nevent: revision\ndata: {"revision":18,"created_at":"2026-01-02T03:04:05.000Z","actor":{"type":"source","id":"office","name":"office"}}\n\n';

/** What happens in an account, as a stream that can be taken up again where it was left. */
export const events: AreaRoutes = {
  add(app, engine, { authenticator }) {
    const watch = createAccountWatch(engine);
    const streams = new Set<EventStream>();
    app.addHook('preClose', async () => {
      for (const stream of streams) stream.end();
      watch.close();
    });
    addStream(app, engine, watch, streams, (request) => authorize(request, authenticator, engine));
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

function addStream(
  app: FastifyInstance,
  engine: Engine,
  watch: AccountWatch,
  streams: Set<EventStream>,
  readerOf: (request: FastifyRequest) => Promise<Call>,
): void {
  app.get(path, async (request, reply) => {
    const call = callOf(request);
    const reader = await readEvents(engine, call, startOf(request));
    const stream = openEventStream(reply);
    streams.add(stream);
    try {
      const next = () => reader.next(() => readerOf(request));
      await pump(next, stream, (wake) => watch.follow(call.account, { wake, gone: () => stream.end() }));
    } catch (error) {
      // The head is sent already: the stream can only end. The reader connects again and gets the error.
      if (!(error instanceof HeddleError)) throw error;
    } finally {
      streams.delete(stream);
      stream.end();
    }
  });
}

/** Sends what happened, then waits for news, until the stream ends. A store that is away ends it, and a reader who may not read any more. */
async function pump(
  next: () => ReturnType<EventReader['next']>,
  stream: EventStream,
  follow: (wake: () => void) => () => void,
): Promise<void> {
  let wake = (): void => undefined;
  let isChanged = true;
  const unfollow = follow(() => {
    isChanged = true;
    wake();
  });
  stream.signal.addEventListener('abort', () => wake());
  try {
    while (!stream.signal.aborted) {
      isChanged = false;
      for (let page = await next(); page !== undefined; page = await next()) await stream.send(page);
      if (isChanged || stream.signal.aborted) continue;
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
