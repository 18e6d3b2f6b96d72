import { defineKind, type State } from '../../model/declare/kind.ts';
import type { DerivedChange, ObjectChange } from '../../model/declare/mutation.ts';
import { boolean, oneOf, string } from '../../model/schema/field.ts';
import type { Stored } from '../../model/state/stored.ts';
import { domain } from '../shared/formats.ts';
import { deriveAccess, isPrivate, proxyGroupIdOf, proxyPeersOf } from '../shared/private-access.ts';
import { isOwnCluster, isServedAt } from '../shared/proxy-cluster.ts';

/** Returns the number of connected proxies of a cluster, as they report it. */
function countConnected({ id }: Stored<'ProxyCluster'>, state: State): number {
  return Number(state.observed?.(id)?.['connected_proxies'] ?? 0);
}

/** An ability that no proxy reports counts as missing. */
const ability = (doc: string) => boolean({ doc, default: false });

const spec = {
  address: string({
    doc: 'The name below which the cluster offers services.',
    required: true,
    minLength: 1,
    format: domain,
  }),
  type: oneOf(['account', 'shared'], {
    doc: 'Whose proxies these are: `account` for those of this account, `shared` for those of several accounts.',
    required: true,
  }),
  supports_custom_ports: ability('Whether services may choose their port.'),
  require_subdomain: ability('Whether services need a name below the address and cannot have the address itself.'),
  supports_reputation: ability('Whether it can reject addresses with a bad reputation.'),
  private: ability('Whether it offers private services, which are reached through the mesh.'),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    ProxyCluster: { fields: typeof spec; derived: object };
  }
}

export const proxyCluster = defineKind({
  name: 'ProxyCluster',
  doc: 'Proxies that offer services under one address. They register themselves; a service is assigned to the cluster of its domain.',
  path: '/api/reverse-proxies/clusters',
  idParameter: 'clusterAddress',
  addressedBy: 'own_address',
  verbs: ['list', 'delete'],
  module: 'services',
  observed: 'proxies',
  document: { allowed: false, why: 'clusters are created only by the registration of their proxies' },
  nameField: 'address',
  spec,
  computed: {
    online: {
      doc: 'Whether at least one of its proxies is connected.',
      schema: { type: 'boolean' },
      value: (object, state) => countConnected(object, state) > 0,
    },
    connected_proxies: {
      doc: 'Number of its proxies that are connected.',
      schema: { type: 'integer' },
      value: countConnected,
    },
  },
  summary: ['id', 'address'],
  uniques: {
    own_address: {
      path: '/address',
      // Shared clusters cannot be removed by the account, so paths do not address them.
      value: (object) => (isOwnCluster(object) ? (object.spec.address ?? '') : undefined),
      message: (value) => `a cluster with the address \`${value}\` already exists`,
    },
  },
  derivedChanges: deriveClusterChanges,
  activity: { delete: 'service.cluster.delete' },
  activityMeta: (object) => ({ name: object.name, proxy_cluster: object.name }),
  example: {
    address: 'proxy.example.com',
    type: 'account',
    supports_custom_ports: true,
    require_subdomain: true,
    supports_reputation: false,
    private: true,
  },
});

/**
 * Returns the changes that follow from a change of a cluster: access to the private services that it gains or loses.
 * With a deleted cluster, its group and its proxy peers are deleted.
 */
function deriveClusterChanges(
  { before, after }: ObjectChange<Stored<'ProxyCluster'>>,
  state: State,
): readonly DerivedChange[] {
  const sides = [before, after].flatMap((cluster) => cluster ?? []);
  const served = state
    .ofKind('ProxyService')
    .filter((service) => isPrivate(service) && sides.some((cluster) => serves(cluster, service, state)));
  return [
    ...served.flatMap((service) => deriveAccess(service, state)),
    ...(before !== undefined && after === undefined ? removeProxies(before, state) : []),
  ];
}

function serves(cluster: Stored<'ProxyCluster'>, service: Stored<'ProxyService'>, state: State): boolean {
  return isServedAt(cluster.spec.address ?? '', service.spec.domain ?? '', state);
}

function removeProxies(cluster: Stored<'ProxyCluster'>, state: State): readonly DerivedChange[] {
  const group = state.get(proxyGroupIdOf(cluster));
  return [...(group === undefined ? [] : [group]), ...proxyPeersOf(cluster.id, state)].map((remove) => ({ remove }));
}
