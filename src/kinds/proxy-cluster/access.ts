import { isWithin } from '../../lib/net/domain.ts';
import type { DerivedChange, State, Step } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';
import { deriveAccess, isPrivate, proxiesIdOf, proxyPeersOf } from '../shared/private-access.ts';

/** A cluster that comes, changes or goes takes private services over or leaves them; its group and the peers of its proxies go with it. */
export function followCluster({ before, after }: Step<Stored<'ProxyCluster'>>, state: State): readonly DerivedChange[] {
  const sides = [before, after].flatMap((cluster) => cluster ?? []);
  const served = state
    .ofKind('ProxyService')
    .filter((service) => isPrivate(service) && sides.some((cluster) => serves(cluster, service)));
  return [
    ...served.flatMap((service) => deriveAccess(service, state)),
    ...(before !== undefined && after === undefined ? endProxies(before, state) : []),
  ];
}

function serves(cluster: Stored<'ProxyCluster'>, service: Stored<'ProxyService'>): boolean {
  return isWithin(service.spec.domain ?? '', cluster.spec.address ?? '');
}

function endProxies(cluster: Stored<'ProxyCluster'>, state: State): readonly DerivedChange[] {
  const group = state.get(proxiesIdOf(cluster));
  return [...(group === undefined ? [] : [group]), ...proxyPeersOf(cluster.id, state)].map((remove) => ({ remove }));
}
