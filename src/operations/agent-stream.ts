import { defineOperation } from '../model/operation/operation.ts';
import { string } from '../model/schema/field.ts';
import { ofSession, outside } from './agent.ts';

const example = [
  'id: 41.0f3c5a7e9b1d2c4e6f8091a2b3c4d5e6',
  'event: change',
  'data: {"revision":41,"outbound":{"put":[{"id":"ch8i…/web","policy":{"id":"ch8i…","name":"Web"},"rule":{"id":"ch8i…","name":"web"},"action":"accept","protocol":"tcp","ports":[{"start":443,"end":443}],"set":"ch8g…"}],"remove":[]}}\n\n',
].join('\n');

const doc = [
  `${outside} \`Authorization: Peer <session>\`. The peer counts as connected as long as the stream is open; a newer stream ends an older one.`,
  'The first event is `map` (everything that the peer has to know), `change` (what it missed since the event whose id it sends as `Last-Event-ID`) or `current` (it missed nothing). Then come `change` events, and only when something is new for this peer. A reader that falls behind gets the newest state in one `change`; nothing is kept back for it.',
  'A map has `self`, `settings`, `dns` and lists of entries with an `id`: `peers` and `away` (tunnels; those who are away have to sign in again), `sets` (of peers, which rules name), `outbound` and `inbound` (firewall rules; a drop wins over every accept), `routes` (where others lead this peer, the ways in the order of their metric) and `leads` (where it leads others, with the rules for them), `users` (who may log in by SSH for which group), `zones` and `nameservers`, and `forwards` (ingress ports: `gateway` forwards its ports to those of `peer` by the `mappings`; in the maps of both). Lists of peers may name the peer itself, which means nothing.',
  'A `change` gives `self`, `settings` and `dns` anew where they changed, and of lists what to `put` and to `remove`; `edit` adds members to a set and removes some. An `end` event says why the stream ends (`deleted`, `blocked`, `expired`, `replaced`, `stopping`, `failed`) and whether it is worth it to `reconnect`.',
].join('\n\n');

/** Operation by which a peer follows its network map. */
export const agentStream = {
  follow: defineOperation({
    ...ofSession,
    id: 'streamMap',
    method: 'GET',
    path: '/agent/stream',
    summary: 'Stay connected, and follow the network map',
    doc,
    answer: string({ doc: '' }),
    answerType: 'text/event-stream',
    uncached: true,
    example: { answer: example },
  }),
};
