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

/** Ids of peers that a peer may open connections to, in order: certainly, or depending on posture checks. */
export interface AccessiblePeers {
  readonly sure: readonly string[];
  readonly conditional: readonly string[];
}

/** Returns the peers to which a peer may open a connection. */
export function accessiblePeers(access: Access, peer: string): AccessiblePeers {
  const { sure, possible } = peersReachedFrom(access, peer);
  return { sure: idsAt(access.endpoints, sure), conditional: idsAt(access.endpoints, subtractBits(possible, sure)) };
}

/** Returns the number of peers to which a peer may certainly open a connection. */
export function countAccessiblePeers(access: Access, peer: string): number {
  return countBits(peersReachedFrom(access, peer).sure);
}

/** The certain neighbourhood of a peer: drops are weighed, and uncertain access counts as closed. */
export interface Neighbourhood {
  /** Peers and proxies with a tunnel to this peer: one reaches the other, or is a gateway for the other. */
  readonly neighbours: BitSet;
  /** Destinations that the peer reaches through gateways. */
  readonly uses: readonly DestinationAt[];
  /** Destinations for which the peer is a gateway. */
  readonly serves: readonly DestinationAt[];
}

/** A resource or a route, with its slot. */
export interface DestinationAt {
  readonly at: number;
  readonly destination: RoutedDestination;
}

/** `from`: endpoints that a peer certainly reaches. `to`: peers that certainly reach it. */
export interface Reached {
  readonly from: BitSet;
  readonly to: BitSet;
}

/** Returns the neighbourhood of a peer. */
export function neighbourhoodOf(access: Access, at: number): Neighbourhood {
  return neighbourhoodBetween(access, at, { from: surelyReachedFrom(access, at), to: surelyReachedTo(access, at) });
}

/** Returns the neighbourhood of a peer that reaches `from` and is reached by `to`. */
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

/** Returns the peers that reach a destination through gateways, without the gateways. */
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

/** Live destinations with the union of their gateways, cached per image. */
const leaders = new WeakMap<Access, { readonly all: BitSet; readonly destinations: readonly DestinationAt[] }>();

/** Returns the live destinations for which a peer is a gateway. */
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
