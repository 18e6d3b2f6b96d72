import type { State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';

/**
 * The cluster whose address is the longest end of a domain, if the account knows one. A cluster that requires a
 * subdomain does not serve its bare address; the account's own cluster goes before a shared one of the same address.
 */
export function clusterOf(domain: string, state: State): Stored<'ProxyCluster'> | undefined {
  const labels = domain.split('.');
  for (const [at] of labels.entries()) {
    const found = state
      .lookUp('ProxyCluster', 'name', labels.slice(at).join('.'))
      .filter((cluster) => at > 0 || cluster.spec.require_subdomain !== true);
    const own = found.find(isOwn) ?? found[0];
    if (own !== undefined) return own;
  }
  return undefined;
}

/** Whether the proxies of a cluster belong to the account, and are not shared by several. */
export function isOwn(cluster: Stored<'ProxyCluster'>): boolean {
  return cluster.spec.type === 'account';
}
