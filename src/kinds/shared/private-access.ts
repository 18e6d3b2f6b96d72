import { equalJson, type JsonObject } from '../../lib/json.ts';
import { sha256 } from '../../lib/node-pure.ts';
import type { State } from '../../model/declare/kind.ts';
import type { DerivedChange } from '../../model/declare/mutation.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Stored } from '../../model/state/stored.ts';
import { clusterOf } from './proxy-cluster.ts';

/**
 * Returns the changes of the derived objects that let peers reach a private service: a policy from its access groups to
 * the proxies of its cluster, and the group of these proxies when it is first needed. Both ids are computed from their
 * origins, so deriving the objects again gives the same ones.
 */
export function deriveAccess(service: Stored<'ProxyService'>, state: State): readonly DerivedChange[] {
  const present = state.find('Policy', policyIdOf(service));
  const cluster = isPrivate(service) ? clusterOf(service.spec.domain ?? '', state) : undefined;
  if (cluster === undefined || state.get(service.id) === undefined)
    return present === undefined ? [] : [{ remove: present }];
  const id = proxyGroupIdOf(cluster);
  const group: readonly DerivedChange[] = state.get(id) === undefined ? [{ add: buildProxyGroup(cluster, state) }] : [];
  if (present === undefined) return [...group, { add: buildAccessPolicy(service, id) }];
  const spec = {
    ...present.spec,
    ...derivedPolicyMembers(service),
    rules: [accessRule(present.spec.rules, service, id)],
  };
  return equalJson(spec, present.spec) ? group : [...group, { change: present, spec }];
}

/** Whether a service is reached only through the mesh. */
export function isPrivate(service: Stored<'ProxyService'>): boolean {
  return service.spec.private === true;
}

/** Returns the change that updates the group of a cluster's proxies, if that group exists. */
export function updateProxyGroup(cluster: string, state: State): readonly DerivedChange[] {
  const group = state.find('Group', proxyGroupIdOf({ id: cluster }));
  if (group === undefined || state.get(cluster) === undefined) return [];
  const proxies = proxyIdsIn(cluster, state);
  if (equalJson(proxies, group.derived.proxies ?? [])) return [];
  return [{ change: group, derived: { proxies } }];
}

/** Returns the proxy peers of a cluster. */
export function proxyPeersOf(cluster: string, state: State): readonly Stored<'ProxyPeer'>[] {
  return state.referrersBy('ProxyPeer', 'cluster', cluster);
}

function proxyIdsIn(cluster: string, state: State): readonly string[] {
  return proxyPeersOf(cluster, state)
    .map(({ id }) => id)
    .sort();
}

/** Returns the id of the group of a cluster's proxies. */
export function proxyGroupIdOf(cluster: Pick<StoredObject, 'id'>): string {
  return companionId('proxies', cluster);
}

/** Returns the id of the policy that lets peers reach a private service. */
function policyIdOf(service: Stored<'ProxyService'>): string {
  return companionId('access', service);
}

function buildProxyGroup(cluster: Stored<'ProxyCluster'>, state: State) {
  const address = cluster.spec.address ?? '';
  return {
    id: proxyGroupIdOf(cluster),
    kind: 'Group',
    spec: { name: `Proxies of ${address}` },
    derived: {
      ...{ issued: 'integration', system: 'proxies', derived_from: cluster.id },
      proxies: proxyIdsIn(cluster.id, state),
    },
  };
}

function buildAccessPolicy(service: Stored<'ProxyService'>, proxies: string) {
  return {
    id: policyIdOf(service),
    kind: 'Policy',
    spec: { ...derivedPolicyMembers(service), rules: [accessRule(undefined, service, proxies)] },
    derived: { derived_from: service.id },
  };
}

/** Returns the members of the policy that follow the service. */
function derivedPolicyMembers(service: Stored<'ProxyService'>): JsonObject {
  return {
    name: `Access to ${service.name}`,
    description: `Made for the private service ${service.name} (${service.spec.domain ?? ''}) and kept like it.`,
    enabled: service.spec.enabled === true,
  };
}

function accessRule(present: unknown, service: Stored<'ProxyService'>, proxies: string): JsonObject {
  const stored = Array.isArray(present) ? (present[0] as JsonObject) : {};
  return {
    ...stored,
    name: 'access',
    enabled: true,
    action: 'accept',
    bidirectional: false,
    protocol: 'tcp',
    ports: ['80', '443'],
    sources: service.spec.access_groups ?? [],
    destinations: [proxies],
  };
}

/** Returns the id of an object that exists once per origin, in the alphabet and length of all ids. */
function companionId(what: string, { id }: Pick<StoredObject, 'id'>): string {
  const bits = BigInt(`0x${sha256(`${what}/${id}`).slice(0, 25)}`);
  return bits.toString(32).padStart(20, '0');
}
