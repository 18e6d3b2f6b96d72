import type { State } from '../../model/declare/kind.ts';
import { isOfKind, type Stored } from '../../model/state/stored.ts';
import { isAll, listedPeers } from '../shared/membership.ts';

/** How many peers route to a network; one that does by several routers counts once. */
export function countRoutingPeers(network: Stored<'Network'>, state: State): number {
  const peers = new Set<string>();
  for (const router of state.childrenOf(network.id, 'NetworkRouter')) {
    const groups = (router.spec.peer_groups ?? []).flatMap((id) => state.find('Group', id) ?? []);
    if (groups.some(isAll)) return state.countOf('Peer');
    if ((router.spec.peer ?? '') !== '') peers.add(router.spec.peer ?? '');
    for (const peer of groups.flatMap(listedPeers)) peers.add(peer);
  }
  return peers.size;
}

/** The policies that permit access to a resource of the network, by id. */
export function policiesTo(network: Stored<'Network'>, state: State): readonly string[] {
  const resources = state.childrenOf(network.id, 'NetworkResource');
  const targets = new Set(resources.flatMap((resource) => [resource.id, ...(resource.spec.groups ?? [])]));
  const policies = new Set<string>();
  for (const target of targets) {
    for (const { from } of state.referrersOf(target)) {
      if (isOfKind(from, 'Policy') && from.spec.enabled === true && leadsTo(from, targets)) policies.add(from.id);
    }
  }
  return [...policies].sort();
}

function leadsTo(policy: Stored<'Policy'>, targets: ReadonlySet<string>): boolean {
  return (policy.spec.rules ?? []).some(({ enabled, destinations = [], destinationResource }) => {
    const one = destinationResource?.id;
    return enabled === true && (destinations.some((id) => targets.has(id)) || (one !== undefined && targets.has(one)));
  });
}
