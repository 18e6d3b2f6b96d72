import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { openHttpSink } from '../../features/peers/streams/http-sink.ts';
import { operation, textual } from '../../model/lower/openapi/operation.ts';
import type { AreaRoutes, Services } from '../area-routes.ts';
import { agentRequest } from './agent.ts';
import { proofParameter } from './agent-openapi.ts';

const example = [
  'id: 41.0f3c5a7e9b1d2c4e6f8091a2b3c4d5e6',
  'event: change',
  'data: {"revision":41,"outbound":{"put":[{"id":"ch8i…/web","policy":{"id":"ch8i…","name":"Web"},"rule":{"id":"ch8i…","name":"web"},"action":"accept","protocol":"tcp","ports":[{"start":443,"end":443}],"set":"ch8g…"}],"remove":[]}}\n\n',
].join('\n');

const description = [
  'Not a part of the management interface: machines use it. `Authorization: Peer <session>`. The peer counts as connected as long as the stream is open; a newer stream ends an older one.',
  'The first event is `map` (everything that the peer has to know), `change` (what it missed since the event whose id it sends as `Last-Event-ID`) or `current` (it missed nothing). Then come `change` events, and only when something is new for this peer. A reader that falls behind gets the newest state in one `change`; nothing is kept back for it.',
  'A map has `self`, `settings`, `dns` and lists of entries with an `id`: `peers` and `away` (tunnels; those who are away have to sign in again), `sets` (of peers, which rules name), `outbound` and `inbound` (firewall rules; a drop wins over every accept), `routes` (where others lead this peer, the ways in the order of their metric) and `leads` (where it leads others, with the rules for them), `users` (who may log in by SSH for which group), `zones` and `nameservers`. Lists of peers may name the peer itself, which means nothing.',
  'A `change` gives `self`, `settings` and `dns` anew where they changed, and of lists what to `put` and to `remove`; `edit` adds members to a set and removes some. An `end` event says why the stream ends (`deleted`, `blocked`, `expired`, `replaced`, `stopping`, `failed`) and whether it is worth it to `reconnect`.',
].join('\n\n');

/** The maps of peers and their changes, as long as they are connected. */
export const agentStream: AreaRoutes = {
  add: addStream,
  paths: {
    '/agent/stream': {
      get: operation({
        ...{ id: 'streamMap', tag: 'agent', summary: 'Stay connected, and follow the network map', open: true },
        description,
        parameters: [proofParameter],
        answer: textual('text/event-stream', example),
        errors: [401, 403, 503],
      }),
    },
  },
};

function addStream(app: FastifyInstance, _engine: unknown, { peering, hub }: Services): void {
  app.addHook('preClose', async () => hub.close());
  app.get('/agent/stream', { exposeHeadRoute: false }, async (request, reply) => {
    const { account, peer, state, place } = await peering.authenticate(agentRequest(request));
    reply.hijack();
    let leave = (): void => undefined;
    // Of headers that were given a value, all are text. Browsers of other origins read nothing without them.
    const sink = openHttpSink(reply.raw, () => leave(), reply.getHeaders() as OutgoingHttpHeaders);
    leave = hub.join({ account, peer: peer.id, revision: state.revision, last: lastOf(request), place, sink });
  });
}

function lastOf(request: FastifyRequest): string | undefined {
  const last = request.headers['last-event-id'];
  return typeof last === 'string' ? last : undefined;
}
