import { defineKind, type State } from '../../model/declare/kind.ts';
import { maxLengths, string } from '../../model/schema/field.ts';
import { isOfKind, type Stored } from '../../model/state/stored.ts';
import { isAll, listedPeers } from '../shared/membership.ts';

const spec = {
  name: string({ doc: 'The name people see.', maxLength: maxLengths.name, required: true, minLength: 1 }),
  description: string({ doc: 'What the network is.', default: '' }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    Network: { fields: typeof spec; derived: object };
  }
}

export const network = defineKind({
  name: 'Network',
  doc: 'A place outside the mesh, with the hosts, subnets and domains that are reached there (resources) and the peers that route to them (routers). Policies decide who reaches a resource.',
  path: '/api/networks',
  idParameter: 'networkId',
  module: 'networks',
  document: { allowed: true, shortName: 'hnet' },
  spec,
  computed: {
    routing_peers_count: {
      doc: 'Number of peers that route to the network, each counted once.',
      schema: { type: 'integer' },
      value: countRoutingPeers,
    },
    policies: {
      doc: 'Ids of the enabled policies with an enabled rule to a resource of the network, or to a group of such a resource.',
      schema: { type: 'array', items: { type: 'string' } },
      value: policiesTo,
    },
  },
  activity: { create: 'network.create', update: 'network.update', delete: 'network.delete' },
  example: {
    name: 'Office network',
    description: 'Printers, file server and lab machines in the office.',
  },
});

/** Returns the number of peers that route to a network. A peer of several routers counts once. */
function countRoutingPeers(network: Stored<'Network'>, state: State): number {
  const peers = new Set<string>();
  for (const router of state.childrenOf(network.id, 'NetworkRouter')) {
    const groups = (router.spec.peer_groups ?? []).flatMap((id) => state.find('Group', id) ?? []);
    if (groups.some(isAll)) return state.countOf('Peer');
    if ((router.spec.peer ?? '') !== '') peers.add(router.spec.peer ?? '');
    for (const peer of groups.flatMap(listedPeers)) peers.add(peer);
  }
  return peers.size;
}

/**
 * Returns the ids, sorted, of enabled policies with an enabled rule to a resource of the network, or to a group of one.
 */
function policiesTo(network: Stored<'Network'>, state: State): readonly string[] {
  const resources = state.childrenOf(network.id, 'NetworkResource');
  const targets = new Set(resources.flatMap((resource) => [resource.id, ...(resource.spec.groups ?? [])]));
  const policies = new Set<string>();
  for (const target of targets) {
    for (const { from } of state.referrersOf(target)) {
      if (isOfKind(from, 'Policy') && from.spec.enabled === true && reachesTarget(from, targets)) policies.add(from.id);
    }
  }
  return [...policies].sort();
}

function reachesTarget(policy: Stored<'Policy'>, targets: ReadonlySet<string>): boolean {
  return (policy.spec.rules ?? []).some(({ enabled, destinations = [], destinationResource }) => {
    const one = destinationResource?.id;
    return enabled === true && (destinations.some((id) => targets.has(id)) || (one !== undefined && targets.has(one)));
  });
}
