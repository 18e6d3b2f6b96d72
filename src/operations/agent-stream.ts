import { defineOperation } from '../model/operation/operation.ts';
import { string } from '../model/schema/field.ts';
import { agentDocPrefix, sessionDeclaration } from './agent.ts';

const example = [
  'id: 41.0f3c5a7e9b1d2c4e6f8091a2b3c4d5e6',
  'event: change',
  'data: {"revision":41,"outbound":{"put":[{"id":"ch8i…/web","policy":{"id":"ch8i…","name":"Web"},"rule":{"id":"ch8i…","name":"web"},"action":"accept","protocol":"tcp","ports":[{"start":443,"end":443}],"set":"ch8g…"}],"remove":[]}}\n\n',
].join('\n');

const doc = [
  `${agentDocPrefix} \`Authorization: Peer <session>\`. The peer is connected while the stream is open; a newer stream ends an older one.`,
  'The first event is `map` (the whole network map of the peer), `change` (what changed since the event with the id in `Last-Event-ID`) or `current` (nothing changed since then). Later events are `change` events, sent only when something changes for this peer. A reader that falls behind gets the newest state in one `change`; no events are queued for it.',
  'A map has `self`, `settings`, `dns` and lists of entries with an `id`: `peers` and `away` (tunnels; peers in `away` have to sign in again), `sets` (of peers, which rules name), `outbound` and `inbound` (firewall rules; a drop takes precedence over every accept), `routes` (destinations to which other peers route for this peer, with the routing peers in the order of their metric) and `leads` (destinations to which this peer routes for others, with the rules for them), `users` (users who may log in by SSH, for each group), `zones` and `nameservers`, and `forwards` (ingress ports: `gateway` forwards its ports to those of `peer` by the `mappings`; in the maps of both peers). Lists of peers may contain the peer itself, which has no effect.',
  'A `change` contains `self`, `settings` and `dns` where they changed, and for each list what to `put` and to `remove`; `edit` adds members to a set and removes others. An `end` event contains the reason why the stream ends (`deleted`, `blocked`, `expired`, `replaced`, `stopping`, `failed`) and whether the peer should `reconnect`.',
].join('\n\n');

/** Operation by which a peer follows its network map. */
export const agentStream = {
  follow: defineOperation({
    ...sessionDeclaration,
    id: 'streamMap',
    method: 'GET',
    path: '/agent/stream',
    summary: 'Stay connected, and follow the network map',
    doc,
    answer: string({ doc: '' }),
    answerType: 'text/event-stream',
    withoutEtag: true,
    example: { answer: example },
  }),
};
