import type { Fault, State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';
import { holdsPeer, sharePeer } from '../shared/membership.ts';

/** By what routes to the same place find each other: the range, or all domains together. */
export function destinationOf(route: Stored<'Route'>): readonly string[] {
  const network = route.spec.network ?? '';
  const domains = route.spec.domains ?? [];
  return network !== '' ? [network] : domains.length > 0 ? [domains.join(' ')] : [];
}

/** A peer routes to one place by one route only. */
export function checkOverlap(route: Stored<'Route'>, state: State): readonly Fault[] {
  return destinationOf(route)
    .flatMap((destination) => state.lookUp('Route', 'destination', destination))
    .filter((other) => other.id !== route.id && shareRouter(route, other, state))
    .map((other) => ({
      code: 'route_overlaps',
      path: (route.spec.peer ?? '') === '' ? '/peer_groups' : '/peer',
      message:
        `a route to ${destinationOf(route).join()} by some of these peers already exists ` +
        `(\`${other.name}\`, id ${other.id}); choose other routing peers or change that route`,
    }));
}

function shareRouter(a: Stored<'Route'>, b: Stored<'Route'>, state: State): boolean {
  const [peerA, peerB] = [a.spec.peer ?? '', b.spec.peer ?? ''];
  const [groupsA, groupsB] = [groupsOf(a, state), groupsOf(b, state)];
  if (peerA !== '' && peerB !== '') return peerA === peerB;
  if (peerA !== '') return groupsB.some((group) => holdsPeer(group, peerA));
  if (peerB !== '') return groupsA.some((group) => holdsPeer(group, peerB));
  return groupsA.some((one) => groupsB.some((other) => sharePeer(one, other, state)));
}

function groupsOf(route: Stored<'Route'>, state: State): readonly Stored<'Group'>[] {
  return (route.spec.peer_groups ?? []).flatMap((id) => state.find('Group', id) ?? []);
}
