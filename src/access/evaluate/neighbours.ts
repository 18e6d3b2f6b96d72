import {
  addBits,
  addCommonBits,
  type BitSet,
  countBits,
  hasBit,
  haveCommonBits,
  intersectBits,
  noBits,
  numbersIn,
  subtractBits,
  uniteBits,
} from '../../lib/bits/bit-set.ts';
import type { AccessImage } from '../ruleset/access.ts';
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
export function accessiblePeers(access: AccessImage, peer: string): AccessiblePeers {
  const { sure, possible } = peersReachedFrom(access, peer);
  return { sure: idsAt(access.endpoints, sure), conditional: idsAt(access.endpoints, subtractBits(possible, sure)) };
}

/** Returns the number of peers to which a peer may certainly open a connection. */
export function countAccessiblePeers(access: AccessImage, peer: string): number {
  return countBits(peersReachedFrom(access, peer).sure);
}

/** The certain neighbourhood of a peer: drops are weighed, and uncertain access counts as closed. */
export interface Neighbourhood {
  /** Peers and proxies with a tunnel to this peer: one reaches the other, or is a gateway for the other. */
  readonly neighbours: BitSet;
  /** Destinations that the peer reaches through gateways. */
  readonly uses: readonly DestinationWithSlot[];
  /** Destinations for which the peer is a gateway. */
  readonly serves: readonly DestinationWithSlot[];
}

/** A resource or a route, with its slot. */
export interface DestinationWithSlot {
  readonly slot: number;
  readonly destination: RoutedDestination;
}

/** `from`: endpoints that a peer certainly reaches. `to`: peers that certainly reach it. */
export interface Reached {
  readonly from: BitSet;
  readonly to: BitSet;
}

/** Returns the neighbourhood of a peer. */
export function neighbourhoodOf(access: AccessImage, at: number): Neighbourhood {
  return buildNeighbourhood(access, at, { from: surelyReachedFrom(access, at), to: surelyReachedTo(access, at) });
}

/** Returns the neighbourhood of a peer that reaches `from` and is reached by `to`. */
export function buildNeighbourhood(access: AccessImage, at: number, { from, to }: Reached): Neighbourhood {
  const { peer, proxy, resource, route } = access.endpoints.byType;
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
  { endpoints, routedDestinations }: AccessImage,
  among: BitSet,
  parts: readonly BitSet[],
): readonly DestinationWithSlot[] {
  return parts.flatMap((part) => {
    if (!haveCommonBits(part, among)) return [];
    return numbersIn(intersectBits(part, among)).flatMap((at): DestinationWithSlot[] => {
      const destination = routedDestinations.get(endpoints.ids[at] ?? '');
      return destination === undefined ? [] : [{ slot: at, destination }];
    });
  });
}

/** Returns the peers that reach a destination through gateways, without the gateways. */
function clientsOf(access: AccessImage, { slot, destination }: DestinationWithSlot): BitSet {
  return subtractBits(surelyReachedTo(access, slot), destination.gateways);
}

function peersReachedFrom(access: AccessImage, id: string): EndpointSets {
  const at = access.endpoints.slots.get(id);
  const { peer } = access.endpoints.byType;
  if (at === undefined || !hasBit(peer, at)) return { sure: noBits, possible: noBits };
  const { sure, possible } = reachedFrom(access, at);
  return { sure: intersectBits(sure, peer), possible: intersectBits(possible, peer) };
}

/** Live destinations with the union of their gateways, cached per image. */
const liveDestinations = new WeakMap<
  AccessImage,
  { readonly all: BitSet; readonly destinations: readonly DestinationWithSlot[] }
>();

/** Returns the live destinations for which a peer is a gateway. */
export function servedDestinations(access: AccessImage, at: number): readonly DestinationWithSlot[] {
  const known = liveDestinations.get(access) ?? collectLiveDestinations(access);
  liveDestinations.set(access, known);
  return hasBit(known.all, at) ? known.destinations.filter(({ destination }) => hasBit(destination.gateways, at)) : [];
}

function collectLiveDestinations(access: AccessImage) {
  const destinations = [...access.routedDestinations].flatMap(([id, destination]): DestinationWithSlot[] => {
    const at = access.endpoints.slots.get(id);
    return at === undefined || !hasBit(access.live, at) ? [] : [{ slot: at, destination }];
  });
  return { all: uniteBits(...destinations.map(({ destination }) => destination.gateways)), destinations };
}
