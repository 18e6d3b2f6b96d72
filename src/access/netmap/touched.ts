import { type BitSet, bitsOf, differingBits, intersectBits, noBits, uniteBits } from '../../lib/bits/bit-set.ts';
import { neighbourhoodOf } from '../evaluate/neighbours.ts';
import { touchedPeers } from '../evaluate/touched.ts';
import type { AccessImage } from '../ruleset/access.ts';
import { agreeOnSlots, idsAt, slotsOf } from '../ruleset/endpoints.ts';
import { accessTypeOf } from '../ruleset/object-readers.ts';
import { reuseMaps } from './incremental.ts';
import { type Audience, audiencesOf, netmapBuilderOf, reuseNetmapBuilder } from './netmap-builder.ts';
import { mapTypeOf } from './object-readers.ts';

/**
 * Returns the ids, sorted, of all peers whose maps may differ between an image and its successor. Complete, but may
 * contain peers whose maps are equal. `changed` are the ids of added, changed or removed objects, as passed to
 * `updateAccess`.
 */
export function touchedMaps(before: AccessImage, after: AccessImage, changed: Iterable<string>): readonly string[] {
  const everyone = after.endpoints.byType.peer;
  if (!agreeOnSlots(before.endpoints, after.endpoints)) return idsAt(after.endpoints, everyone);
  const peers: string[] = [];
  let [users, all] = [false, false];
  for (const id of changed) {
    const object = after.state.get(id) ?? before.state.get(id);
    const part = mapTypeOf(object);
    if (part === 'account') all = true;
    if (part === 'user') users = true;
    const isMachine = ['peer', 'proxy'].includes(accessTypeOf(object) ?? '');
    if (isMachine && before.state.get(id) !== after.state.get(id)) peers.push(id);
  }
  reuseNetmapBuilder(before, after, peers);
  // Finding the neighbours of very many peers takes longer than comparing all maps.
  const isAll = all || peers.length * 16 > after.endpoints.order.length;
  const touched = isAll
    ? everyone
    : intersectBits(
        uniteBits(
          slotsOf(after.endpoints, touchedPeers(before, after)),
          ...audienceChanges(before, after),
          ...peers.flatMap((id) => peerWithNeighbours(after, id)),
          ...(users ? sshLoginPeers(after) : []),
        ),
        everyone,
      );
  reuseMaps(netmapBuilderOf(before), netmapBuilderOf(after), touched);
  return idsAt(after.endpoints, touched);
}

/** Returns the peers for which an audience changed: they joined it, left it, or its content changed. */
function audienceChanges(before: AccessImage, after: AccessImage): readonly BitSet[] {
  const known = new Map(audiencesOf(netmapBuilderOf(before)).map((audience) => [audience.id, audience]));
  const deltas: BitSet[] = [];
  for (const audience of audiencesOf(netmapBuilderOf(after))) {
    deltas.push(audienceChange(known.get(audience.id), audience));
    known.delete(audience.id);
  }
  return [...deltas, ...[...known.values()].map(({ peers }) => peers)];
}

function audienceChange(old: Audience | undefined, audience: Audience): BitSet {
  if (old?.content === audience.content) return differingBits(old?.peers ?? noBits, audience.peers);
  return uniteBits(old?.peers ?? noBits, audience.peers);
}

/** Returns a peer, and all peers that share a tunnel with it. */
function peerWithNeighbours(access: AccessImage, id: string): readonly BitSet[] {
  const at = access.endpoints.slots.get(id);
  return at === undefined ? [] : [bitsOf([at]), neighbourhoodOf(access, at).neighbours];
}

/** Returns the peers that users may log in to by SSH. Their maps list the members of the groups that the rules name. */
function sshLoginPeers({ flows }: AccessImage): readonly BitSet[] {
  return flows
    .filter(({ by }) => by?.rule.protocol === 'ssh' && Object.keys(by.rule.authorized).length > 0)
    .map(({ to }) => to.possible);
}
