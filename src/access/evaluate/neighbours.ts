import {
  addBits,
  addCommonBits,
  type BitSet,
  countBits,
  hasBit,
  intersectBits,
  noBits,
  numbersIn,
  shareBits,
  subtractBits,
  uniteBits,
} from '../../lib/bits/bit-set.ts';
import type { Access } from '../ruleset/access.ts';
import { idsAt } from '../ruleset/endpoints.ts';
import type { EndpointSets } from '../ruleset/flows.ts';
import type { RoutedDestination } from '../ruleset/routed-destinations.ts';
import { reachedFrom, surelyReachedFrom, surelyReachedTo } from './reachability.ts';

/** Ids of peers that a peer may open connections to, in order: for sure, and depending on posture checks. */
export interface AccessiblePeers {
  readonly sure: readonly string[];
  readonly conditional: readonly string[];
}

/** The peers to which a peer may open a connection. */
export function accessiblePeers(access: Access, peer: string): AccessiblePeers {
  const { sure, possible } = peersReachedFrom(access, peer);
  return { sure: idsAt(access.endpoints, sure), conditional: idsAt(access.endpoints, subtractBits(possible, sure)) };
}

/** To how many peers a peer may surely open a connection. */
export function countAccessiblePeers(access: Access, peer: string): number {
  return countBits(peersReachedFrom(access, peer).sure);
}

/** The certain neighbourhood of a peer: drops are weighed, and what is open counts as closed. */
export interface Neighbourhood {
  /** Peers and proxies between which and this one there is a tunnel: one reaches the other, or leads the other somewhere. */
  readonly neighbours: BitSet;
  /** Destinations that it reaches by way of others. */
  readonly uses: readonly DestinationAt[];
  /** Places to which it leads others. */
  readonly serves: readonly DestinationAt[];
}

/** A resource or a route, and where it stands in sets. */
export interface DestinationAt {
  readonly at: number;
  readonly destination: RoutedDestination;
}

/** The endpoints that a peer certainly reaches, and those that certainly reach it. */
export interface Reached {
  readonly from: BitSet;
  readonly to: BitSet;
}

/** The neighbourhood of a peer. */
export function neighbourhoodOf(access: Access, at: number): Neighbourhood {
  return neighbourhoodBetween(access, at, { from: surelyReachedFrom(access, at), to: surelyReachedTo(access, at) });
}

/** The neighbourhood of a peer that reaches `from` and is reached by `to`. */
export function neighbourhoodBetween(access: Access, at: number, { from, to }: Reached): Neighbourhood {
  const { peer, proxy, resource, route } = access.endpoints.of;
  const uses = destinationsAmong(access, from, [resource, route]).filter(
    ({ destination }) => !hasBit(destination.gateways, at),
  );
  const serves = servedDestinations(access, at);
  const neighbours: BitSet = new Int32Array(Math.max(from.length, peer.length, proxy.length));
  addCommonBits(neighbours, from, peer);
  addCommonBits(neighbours, from, proxy);
  addBits(neighbours, to);
  for (const { destination } of uses) addBits(neighbours, destination.gateways);
  for (const served of serves) addBits(neighbours, clientsOf(access, served));
  return { neighbours, uses, serves };
}

function destinationsAmong(
  { endpoints, routedDestinations }: Access,
  among: BitSet,
  parts: readonly BitSet[],
): readonly DestinationAt[] {
  return parts.flatMap((part) => {
    if (!shareBits(part, among)) return [];
    return numbersIn(intersectBits(part, among)).flatMap((at): DestinationAt[] => {
      const destination = routedDestinations.get(endpoints.ids[at] ?? '');
      return destination === undefined ? [] : [{ at, destination }];
    });
  });
}

/** Peers that are led to a destination, not those that lead there. */
function clientsOf(access: Access, { at, destination }: DestinationAt): BitSet {
  return subtractBits(surelyReachedTo(access, at), destination.gateways);
}

function peersReachedFrom(access: Access, id: string): EndpointSets {
  const at = access.endpoints.slots.get(id);
  const { peer } = access.endpoints.of;
  if (at === undefined || !hasBit(peer, at)) return { sure: noBits, possible: noBits };
  const { sure, possible } = reachedFrom(access, at);
  return { sure: intersectBits(sure, peer), possible: intersectBits(possible, peer) };
}

/** Destinations that take part, with all peers that lead to any of them; known as long as they stay. */
const leaders = new WeakMap<Access, { readonly all: BitSet; readonly destinations: readonly DestinationAt[] }>();

/** The destinations that take part and to which a peer leads. */
export function servedDestinations(access: Access, at: number): readonly DestinationAt[] {
  const known = leaders.get(access) ?? gatherLeaders(access);
  leaders.set(access, known);
  return hasBit(known.all, at) ? known.destinations.filter(({ destination }) => hasBit(destination.gateways, at)) : [];
}

function gatherLeaders(access: Access) {
  const destinations = [...access.routedDestinations].flatMap(([id, destination]): DestinationAt[] => {
    const at = access.endpoints.slots.get(id);
    return at === undefined || !hasBit(access.live, at) ? [] : [{ at, destination }];
  });
  return { all: uniteBits(...destinations.map(({ destination }) => destination.gateways)), destinations };
}
