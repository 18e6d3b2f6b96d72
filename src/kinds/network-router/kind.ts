import { defineKind } from '../../model/declare/kind.ts';
import { boolean, optionalString, ref } from '../../model/schema/field.ts';
import type { Stored } from '../../model/state/stored.ts';
import { exactlyOneRouter, masqueradeField, metricField, routingGroups, routingPeer } from '../shared/routing.ts';

const spec = {
  network: ref('Network', { doc: 'The network that the router routes to.', required: true }),
  key: optionalString({
    doc: 'Distinguishes routers of one network that have the same peers or groups. Without it, routers are identified by their peers or groups.',
    access: 'key',
    hidden: true,
    minLength: 1,
    maxLength: 63,
  }),
  peer: routingPeer,
  peer_groups: routingGroups,
  metric: metricField('Priority among the routers of the network; the lowest number wins.'),
  masquerade: masqueradeField,
  enabled: boolean({ doc: 'Whether the router has an effect.', required: true, documentDefault: true }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    NetworkRouter: { fields: typeof spec; derived: object };
  }
}

export const networkRouter = defineKind({
  name: 'NetworkRouter',
  doc: 'A peer, or the peers of some groups, through which a network is reached.',
  path: '/api/networks/{networkId}/routers',
  listPath: '/api/networks/routers',
  idParameter: 'routerId',
  module: 'networks',
  document: { allowed: true, shortName: 'hrtr' },
  parent: { kind: 'Network', field: 'network', inline: 'routers', answer: 'ids' },
  spec,
  naturalKey: ({ key, peer, peer_groups }) =>
    key ?? (peer === undefined ? `groups/${(peer_groups ?? []).join(',')}` : `peer/${peer}`),
  // A network rarely has several routers. When one is removed and one is added, that counts as an update.
  pairing: () => '',
  rules: [exactlyOneRouter('router_exclusive')],
  activity: { create: 'network.router.create', update: 'network.router.update', delete: 'network.router.delete' },
  activityMeta: (object, state) => ({
    network_name: state.get(networkIdOf(object))?.name ?? '',
    network_id: networkIdOf(object),
    peer: object.spec.peer ?? '',
    peer_groups: (object.spec.peer_groups ?? []).join(', '),
  }),
  example: {
    network: 'office-network',
    peer_groups: ['office-gateways'],
    metric: 100,
    masquerade: true,
    enabled: true,
  },
});

function networkIdOf(router: Stored<'NetworkRouter'>): string {
  return router.parent ?? '';
}
