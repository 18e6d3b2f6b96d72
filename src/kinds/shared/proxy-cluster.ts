import { isWithin } from '../../lib/net/domain.ts';
import type { State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';

/** How a domain leads to a cluster. */
interface Way {
  readonly cluster?: Stored<'ProxyCluster'> | undefined;
  /** The custom domain by which it does; absent: the address of the cluster is its end. */
  readonly custom?: Stored<'ProxyDomain'>;
}

/**
 * How a domain leads to a cluster, if the account knows one: of the addresses of clusters and the custom domains of the
 * account, the longest end of the domain counts. A cluster that requires a subdomain does not serve its bare address. The
 * custom domain `gone` counts as if it were still there.
 */
function wayOf(domain: string, state: State, gone?: Stored<'ProxyDomain'>): Way {
  for (const end of endsOf(domain)) {
    const cluster = clusterAt(end, state);
    if (cluster !== undefined && (end !== domain || cluster.spec.require_subdomain !== true)) return { cluster };
    const custom = gone?.spec.domain === end ? gone : customAt(end, state);
    if (custom !== undefined) return { cluster: clusterAt(custom.spec.target_cluster ?? '', state), custom };
  }
  return {};
}

/** The cluster that a domain leads to, if the account knows one. */
export function clusterOf(domain: string, state: State): Stored<'ProxyCluster'> | undefined {
  return wayOf(domain, state).cluster;
}

/** Whether a domain leads to a cluster by a custom domain, which may be gone from the state. */
export function isBy(custom: Stored<'ProxyDomain'>, domain: string, state: State): boolean {
  return wayOf(domain, state, custom).custom?.id === custom.id;
}

/**
 * The cluster that serves a domain: the one that it leads to, unless that is by a custom domain and neither this one nor one
 * above it is proved. Needs what is observed.
 */
export function servingCluster(domain: string, state: State): Stored<'ProxyCluster'> | undefined {
  const { cluster, custom: way } = wayOf(domain, state);
  if (way === undefined) return cluster;
  const isOurs = endsOf(domain).some((end) => {
    const custom = customAt(end, state);
    return custom !== undefined && isProved(custom, state);
  });
  return isOurs ? cluster : undefined;
}

/** Whether a record proved a custom domain, and no other account has proved it since. Needs what is observed. */
export function isProved({ id }: Stored<'ProxyDomain'>, { observed }: State): boolean {
  return observed?.(id)?.['proved'] === true;
}

/** The cluster of an address; the account's own one goes before a shared one. */
export function clusterAt(address: string, state: State): Stored<'ProxyCluster'> | undefined {
  const found = state.lookUp('ProxyCluster', 'name', address);
  return found.find(isOwn) ?? found[0];
}

/** Whether a cluster of this address serves a domain, by the address or by a custom domain. */
export function isServedAt(address: string, domain: string, state: State): boolean {
  return (
    isWithin(domain, address) ||
    state
      .ofKind('ProxyDomain')
      .some(({ spec }) => spec.target_cluster === address && isWithin(domain, spec.domain ?? ''))
  );
}

/** Whether the proxies of a cluster belong to the account, and are not shared by several. */
export function isOwn(cluster: Stored<'ProxyCluster'>): boolean {
  return cluster.spec.type === 'account';
}

function customAt(domain: string, state: State): Stored<'ProxyDomain'> | undefined {
  return state.holderOf('ProxyDomain', 'domain', domain);
}

/** A domain and those above it, the longest first. */
function endsOf(domain: string): readonly string[] {
  const labels = domain.split('.');
  return labels.map((_, at) => labels.slice(at).join('.'));
}
