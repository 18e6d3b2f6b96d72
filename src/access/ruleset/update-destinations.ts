import { type BitSet, intersectBits, isEmptyBits, numbersIn, subtractBits, uniteBits } from '../../lib/bits/bit-set.ts';
import type { PersistentMap } from '../../lib/persistent-map.ts';
import { type Endpoints, slotsOf } from './endpoints.ts';
import { kindOf, readRoute } from './object-readers.ts';
import {
  destinationOfResource,
  destinationOfRoute,
  equalDestinations,
  type GuardedRoute,
  type RoutedDestination,
} from './routed-destinations.ts';
import type { UpdatedGroups } from './update-groups.ts';
import type { UpdateInput } from './update-image.ts';
import type { UpdatedPeers } from './update-peers.ts';

/** Resources and routes after a step. */
export interface UpdatedDestinations {
  readonly all: PersistentMap<RoutedDestination>;
  readonly guardedRoutes: readonly GuardedRoute[];
  /** All endpoints that take part, including peers and proxies. */
  readonly live: BitSet;
  /** Ids of resources (`resources`) and routes (`routes`) whose ways may have changed. */
  readonly resources: ReadonlySet<string>;
  readonly routes: ReadonlySet<string>;
}

/** Recomputes the gateways of destinations, and which destinations have a gateway that takes part. */
export function updateDestinations(
  step: UpdateInput,
  {
    endpoints,
    peers,
    groups,
  }: { readonly endpoints: Endpoints; readonly peers: UpdatedPeers; readonly groups: UpdatedGroups },
): UpdatedDestinations {
  const { previous, state } = step;
  const resources = new Set([...step.touched.resource, ...resourcesRoutedBy(step, peers.changed, groups.changed)]);
  const routes = new Set(step.touched.route);
  for (const id of peers.changed) for (const route of step.referrerIds(id, 'route', 'peer')) routes.add(route);
  for (const id of groups.changed)
    for (const route of step.referrerIds(id, 'route', 'peer_groups', 'groups')) routes.add(route);
  const input = { state, endpoints, groups: groups.all, live: peers.live };
  const reached: string[] = [];
  const all = previous.routedDestinations.edit((draft) => {
    const put = (id: string, destination: RoutedDestination | undefined) => {
      const before = draft.get(id);
      if (destination === undefined) draft.delete(id);
      else if (before === undefined || !equalDestinations(before, destination)) draft.set(id, destination);
      if (destination?.enabled === true && !isEmptyBits(destination.gateways)) reached.push(id);
    };
    for (const id of resources) put(id, destinationOfResource(id, input));
    for (const id of routes) put(id, destinationOfRoute(id, input));
  });
  const before = subtractBits(previous.live, previous.endpoints.byType.peer);
  const looked = [...resources, ...routes];
  const rest = subtractBits(before, uniteBits(slotsOf(previous.endpoints, looked), slotsOf(endpoints, looked)));
  const there = uniteBits(endpoints.byType.resource, endpoints.byType.route);
  // Proxies need no approval.
  const live = uniteBits(peers.live, endpoints.byType.proxy, intersectBits(rest, there), slotsOf(endpoints, reached));
  const guardedRoutes = routes.size === 0 ? previous.guardedRoutes : guardedRoutesOf(step, endpoints, all);
  return { all, guardedRoutes, live, resources, routes };
}

function guardedRoutesOf(
  { state }: UpdateInput,
  endpoints: Endpoints,
  destinations: PersistentMap<RoutedDestination>,
): readonly GuardedRoute[] {
  return numbersIn(endpoints.byType.route).flatMap((slot) => {
    const id = endpoints.ids[slot] ?? '';
    const [object, receivers] = [state.get(id), destinations.get(id)?.receivers];
    if (object === undefined || receivers === undefined || readRoute(object).guards.length === 0) return [];
    return [{ slot, receivers }];
  });
}

/** Returns the resources of networks whose routers name any of these peers or groups. */
function resourcesRoutedBy(
  step: UpdateInput,
  peers: ReadonlySet<string>,
  groups: ReadonlySet<string>,
): readonly string[] {
  const routers = new Set([
    ...[...peers].flatMap((id) => step.referrerIds(id, 'router', 'peer')),
    ...[...groups].flatMap((id) => step.referrerIds(id, 'router', 'peer_groups')),
  ]);
  const networks = new Set(
    [...routers].flatMap((id) => step.state.get(id)?.parent ?? step.previous.state.get(id)?.parent ?? []),
  );
  return [...networks].flatMap((id) => step.state.childrenOf(id, kindOf.resource).map((resource) => resource.id));
}
