import { type BitSet, bitsOf, equalBits, intersectBits, noBits, uniteBits } from '../../lib/bits/bit-set.ts';
import type { PersistentMap } from '../../lib/persistent-map.ts';
import type { State } from '../../model/declare/kind.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Endpoints } from './endpoints.ts';
import type { Membership } from './groups.ts';
import { type Gateway, kindOf, readResource, readRoute, readRouter } from './object-readers.ts';

/** Live gateways to a destination by one router or route, with its metric. */
export interface Way {
  /** Id of the router or route. */
  readonly id: string;
  readonly peers: BitSet;
  readonly metric: number;
  readonly masquerade: boolean;
}

/** Resource or route with all its gateways. */
export interface RoutedDestination {
  readonly object: StoredObject;
  readonly enabled: boolean;
  readonly ways: readonly Way[];
  /** The peers of all ways. */
  readonly gateways: BitSet;
  /** Peers that receive a route. Absent for a resource, which any peer may use. */
  readonly receivers?: BitSet;
}

/** Route with access control groups: policies open it, but only to its receivers. */
export interface GuardedRoute {
  readonly slot: number;
  readonly receivers: BitSet;
}

/** Inputs from which destinations are compiled. */
export interface DestinationInput {
  readonly state: State;
  readonly endpoints: Endpoints;
  readonly groups: PersistentMap<Membership>;
  /** Peers that take part. */
  readonly live: BitSet;
}

/** Returns the destination of a resource, or `undefined` when the resource does not exist. */
export function destinationOfResource(id: string, input: DestinationInput): RoutedDestination | undefined {
  const object = input.state.get(id);
  if (object === undefined) return undefined;
  const { network, enabled } = readResource(object);
  const ways = input.state
    .childrenOf(network, kindOf.router)
    .filter((router) => readRouter(router).enabled)
    .map((router) => wayOf(router.id, readRouter(router), input));
  return { object, enabled, ways, gateways: uniteBits(...ways.map(({ peers }) => peers)) };
}

/** Returns the destination of a route, or `undefined` when the route does not exist. */
export function destinationOfRoute(id: string, input: DestinationInput): RoutedDestination | undefined {
  const object = input.state.get(id);
  if (object === undefined) return undefined;
  const route = readRoute(object);
  const way = wayOf(id, route, input);
  const receivers = peersIn(route.groups, input);
  return { object, enabled: route.enabled, ways: [way], gateways: way.peers, receivers };
}

/** Whether two destinations have the same object, ways and receivers. */
export function equalDestinations(a: RoutedDestination, b: RoutedDestination): boolean {
  return haveEqualWays(a, b) && equalBits(a.receivers ?? noBits, b.receivers ?? noBits);
}

/** Whether two destinations look the same in the maps of peers that use them: the same object and ways. */
export function haveEqualWays(a: RoutedDestination, b: RoutedDestination): boolean {
  return (
    a.object === b.object && a.ways.length === b.ways.length && a.ways.every((way, at) => equalWays(way, b.ways[at]))
  );
}

function equalWays(a: Way, b: Way | undefined): boolean {
  return a.id === b?.id && a.metric === b.metric && a.masquerade === b.masquerade && equalBits(a.peers, b.peers);
}

function wayOf(id: string, { peer, peerGroups, metric, masquerade }: Gateway, input: DestinationInput): Way {
  const slot = input.endpoints.slots.get(peer);
  const peers = slot === undefined ? peersIn(peerGroups, input) : bitsOf([slot]);
  return { id, peers: intersectBits(peers, input.live), metric, masquerade };
}

/** Returns the peers in groups. Resources in them are left out, because they are not gateways. */
function peersIn(groups: readonly string[], { endpoints, groups: known }: DestinationInput): BitSet {
  return intersectBits(uniteBits(...groups.map((id) => known.get(id)?.members ?? noBits)), endpoints.byType.peer);
}
