import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { openHttpSink } from '../../features/peers/streams/http-sink.ts';
import { agentStream as operations } from '../../operations/agent-stream.ts';
import { implement } from '../operations/implement.ts';
import { agentRequest } from './agent-request.ts';

/** Streams of the map of a peer and its changes, while the peer is connected. */
export const agentStream = implement(operations, (_engine, { peering, hub }, app) => {
  app.addHook('preClose', async () => hub.close());
  return {
    async follow({ request, reply }) {
      const { account, peer, state, location } = await peering.authenticate(agentRequest(request));
      reply.hijack();
      let leave = (): void => undefined;
      // All headers that were set have text values. Browsers of other origins cannot read the stream without the CORS
      // headers.
      const sink = openHttpSink(reply.raw, () => leave(), reply.getHeaders() as OutgoingHttpHeaders);
      leave = hub.join({
        account,
        peer: peer.id,
        revision: state.revision,
        lastEventId: lastEventIdOf(request),
        location,
        sink,
      });
      return reply;
    },
  };
});

function lastEventIdOf(request: FastifyRequest): string | undefined {
  const last = request.headers['last-event-id'];
  return typeof last === 'string' ? last : undefined;
}
