import { isWithin } from '../../lib/net/domain.ts';
import type { State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';

/** How a domain resolves to a cluster. */
interface Resolution {
  readonly cluster?: Stored<'ProxyCluster'> | undefined;
  /** Custom domain through which it does. Absent when the domain ends in the address of the cluster. */
  readonly customDomain?: Stored<'ProxyDomain'>;
}

/**
 * Resolves a domain to a cluster, if the account knows one. Among the addresses of clusters and the custom domains of
 * the account, the longest suffix of the domain wins. A cluster that requires a subdomain does not serve its bare
 * address. The custom domain `gone` counts as if it still existed.
 */
function resolveDomain(domain: string, state: State, gone?: Stored<'ProxyDomain'>): Resolution {
  for (const end of withParentDomains(domain)) {
    const cluster = clusterAt(end, state);
    if (cluster !== undefined && (end !== domain || cluster.spec.require_subdomain !== true)) return { cluster };
    const custom = gone?.spec.domain === end ? gone : customDomainAt(end, state);
    if (custom !== undefined)
      return { cluster: clusterAt(custom.spec.target_cluster ?? '', state), customDomain: custom };
  }
  return {};
}

/** Returns the cluster that a domain resolves to, if the account knows one. */
export function clusterOf(domain: string, state: State): Stored<'ProxyCluster'> | undefined {
  return resolveDomain(domain, state).cluster;
}

/** Whether a domain resolves to a cluster through a custom domain, which may have been removed from the state. */
export function resolvesThrough(custom: Stored<'ProxyDomain'>, domain: string, state: State): boolean {
  return resolveDomain(domain, state, custom).customDomain?.id === custom.id;
}

/**
 * Returns the cluster that serves a domain. If the domain resolves to it through a custom domain, this one or one above
 * it must be proved. Needs a state with observations.
 */
export function servingCluster(domain: string, state: State): Stored<'ProxyCluster'> | undefined {
  const { cluster, customDomain: way } = resolveDomain(domain, state);
  if (way === undefined) return cluster;
  const isOurs = withParentDomains(domain).some((end) => {
    const custom = customDomainAt(end, state);
    return custom !== undefined && isProved(custom, state);
  });
  return isOurs ? cluster : undefined;
}

/**
 * Whether a DNS record proved a custom domain, and no other account has proved it since. Needs a state with
 * observations.
 */
export function isProved({ id }: Stored<'ProxyDomain'>, { observed }: State): boolean {
  return observed?.(id)?.['proved'] === true;
}

/** Returns the cluster with an address. The account's own cluster takes precedence over a shared one. */
export function clusterAt(address: string, state: State): Stored<'ProxyCluster'> | undefined {
  const found = state.lookUp('ProxyCluster', 'name', address);
  return found.find(isOwnCluster) ?? found[0];
}

/** Whether a cluster with this address may serve a domain, by its address or through a custom domain. */
export function isServedAt(address: string, domain: string, state: State): boolean {
  return (
    isWithin(domain, address) ||
    state
      .ofKind('ProxyDomain')
      .some(({ spec }) => spec.target_cluster === address && isWithin(domain, spec.domain ?? ''))
  );
}

/** Whether the proxies of a cluster belong to this account only. */
export function isOwnCluster(cluster: Stored<'ProxyCluster'>): boolean {
  return cluster.spec.type === 'account';
}

function customDomainAt(domain: string, state: State): Stored<'ProxyDomain'> | undefined {
  return state.findByUnique('ProxyDomain', 'domain', domain);
}

/** Returns a domain and its parent domains, the longest first. */
function withParentDomains(domain: string): readonly string[] {
  const labels = domain.split('.');
  return labels.map((_, at) => labels.slice(at).join('.'));
}
