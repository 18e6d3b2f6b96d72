import type { Fault, State } from '../../model/kind.ts';
import type { StoredObject } from '../../model/object.ts';
import { exactlyOne } from '../shared/exclusive.ts';
import { holdsPeer, sharePeer } from '../shared/membership.ts';
import { textOf, textsOf } from '../shared/stored.ts';

interface RouteSpec {
  readonly peer: string | undefined;
  readonly peer_groups: readonly string[];
  readonly network: string | undefined;
  readonly domains: readonly string[];
}

/** A route leads to one thing, by way of one thing. */
export function checkExclusive({ network, domains, peer, peer_groups }: RouteSpec): readonly Fault[] {
  return [
    ...exactlyOne('route_destination_exclusive', {
      first: ['network', network !== undefined],
      second: ['domains', domains.length > 0],
    }),
    ...exactlyOne('route_router_exclusive', {
      first: ['peer', peer !== undefined],
      second: ['peer_groups', peer_groups.length > 0],
    }),
  ];
}

/** By what routes to the same place find each other: the range, or all domains together. */
export function destinationOf(route: StoredObject): readonly string[] {
  const network = textOf(route, 'network');
  const domains = textsOf(route, 'domains');
  return network !== '' ? [network] : domains.length > 0 ? [domains.join(' ')] : [];
}

/** A peer routes to one place by one route only. */
export function checkOverlap(route: StoredObject, state: State): readonly Fault[] {
  return destinationOf(route)
    .flatMap((destination) => state.lookUp('Route', 'destination', destination))
    .filter((other) => other.id !== route.id && shareRouter(route, other, state))
    .map((other) => ({
      code: 'route_overlaps',
      path: textOf(route, 'peer') === '' ? '/peer_groups' : '/peer',
      message:
        `a route to ${destinationOf(route).join()} by some of these peers already exists ` +
        `(\`${other.name}\`, id ${other.id}); choose other routing peers or change that route`,
    }));
}

function shareRouter(a: StoredObject, b: StoredObject, state: State): boolean {
  const [peerA, peerB] = [textOf(a, 'peer'), textOf(b, 'peer')];
  const [groupsA, groupsB] = [groupsOf(a, state), groupsOf(b, state)];
  if (peerA !== '' && peerB !== '') return peerA === peerB;
  if (peerA !== '') return groupsB.some((group) => holdsPeer(group, peerA));
  if (peerB !== '') return groupsA.some((group) => holdsPeer(group, peerB));
  return groupsA.some((one) => groupsB.some((other) => sharePeer(one, other, state)));
}

function groupsOf(route: StoredObject, state: State): readonly StoredObject[] {
  return textsOf(route, 'peer_groups').flatMap((id) => state.get(id) ?? []);
}
