import type { JsonObject } from '../../lib/json.ts';
import type { State } from '../../model/kind.ts';
import type { StoredObject } from '../../model/object.ts';
import { isAll, listedPeers } from '../shared/membership.ts';
import { textOf, textsOf } from '../shared/stored.ts';

/** How many peers route to a network; one that does by several routers counts once. */
export function countRoutingPeers(network: StoredObject, state: State): number {
  const peers = new Set<string>();
  for (const router of state.childrenOf(network.id, 'NetworkRouter')) {
    const groups = textsOf(router, 'peer_groups').flatMap((id) => state.get(id) ?? []);
    if (groups.some(isAll)) return state.countOf('Peer');
    if (textOf(router, 'peer') !== '') peers.add(textOf(router, 'peer'));
    for (const peer of groups.flatMap(listedPeers)) peers.add(peer);
  }
  return peers.size;
}

/** The policies that let somebody reach a resource of the network, by id. */
export function policiesTo(network: StoredObject, state: State): readonly string[] {
  const resources = state.childrenOf(network.id, 'NetworkResource');
  const targets = new Set(resources.flatMap((resource) => [resource.id, ...textsOf(resource, 'groups')]));
  const policies = new Set<string>();
  for (const target of targets) {
    for (const { from } of state.referrersOf(target)) {
      if (from.kind === 'Policy' && from.spec['enabled'] === true && leadsTo(from, targets)) policies.add(from.id);
    }
  }
  return [...policies].sort();
}

function leadsTo(policy: StoredObject, targets: ReadonlySet<string>): boolean {
  // The canonical spec of a policy has all its rules with all their members.
  const rules = policy.spec['rules'] as readonly JsonObject[];
  return rules.some(({ enabled, destinations, destinationResource }) => {
    const resource = destinationResource as { readonly id: string } | undefined;
    const groups = (destinations ?? []) as readonly string[];
    return (
      enabled === true && [...groups, ...(resource === undefined ? [] : [resource.id])].some((id) => targets.has(id))
    );
  });
}
