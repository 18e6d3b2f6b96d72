import type { FastifyRequest } from 'fastify';
import { readEvents } from '../../features/logs/events.ts';
import { events as operations } from '../../operations/config/events.ts';
import { createAccountStreams } from '../answers/account-streams.ts';
import { authorize } from '../authenticate.ts';
import { implement } from '../operations/implement.ts';

/** Events of an account as a stream, which a client can resume after the last event that it received. */
export const events = implement(operations, (engine, { authenticator }, app) => {
  const streams = createAccountStreams(app, engine);
  return {
    async stream({ call, query, request, reply }) {
      const reader = await readEvents(engine, call, lastEventIdOf(request) ?? query.after);
      const stream = streams.open(reply);
      const next = () => reader.next(() => authorize(request, authenticator, engine));
      await streams.follow(stream, call.account, async () => {
        for (let page = await next(); page !== undefined; page = await next()) await stream.send(page);
      });
      return reply;
    },
  };
});

function lastEventIdOf({ headers }: FastifyRequest): string | undefined {
  const last = headers['last-event-id'];
  return typeof last === 'string' && last !== '' ? last : undefined;
}
