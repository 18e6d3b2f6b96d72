import { kindOf, readResource, readRoute } from '../access/ruleset/object-readers.ts';
import { canonicalAddress, contains, parseAddress, parseCidr } from '../lib/net/address.ts';
import { peerDomainOf } from '../model/declare/peer-domain.ts';
import type { Snapshot } from '../model/state/snapshot.ts';

/** An endpoint that a host name or an address may refer to. */
interface EndpointMatch {
  readonly id: string;
  /**
   * How exactly the endpoint matches: a narrower range or a longer domain is more exact. 0: it contains every address.
   */
  readonly exactness: number;
  readonly enabled: boolean;
}

/**
 * Returns the ids of the peers, network resources and routes through which a host name or an address can be reached.
 * Leaves out routes to every address: without such a route, a client connects directly.
 */
export function endpointsAt(state: Snapshot, host: string): readonly string[] {
  return matchEndpoints(state, host).flatMap(({ id, exactness }) => (exactness > 0 ? [id] : []));
}

/**
 * Returns the ids of the endpoints to which a connection with a host name or an address leads: the most exact enabled
 * ones, or the most exact disabled ones when none is enabled.
 */
export function nearestEndpointsAt(state: Snapshot, host: string): readonly string[] {
  const all = matchEndpoints(state, host);
  const enabled = all.filter((meant) => meant.enabled);
  const chosen = enabled.length > 0 ? enabled : all;
  const most = chosen.reduce((largest, { exactness }) => Math.max(largest, exactness), 0);
  return chosen.flatMap(({ id, exactness }) => (exactness === most ? [id] : []));
}

function matchEndpoints(state: Snapshot, text: string): readonly EndpointMatch[] {
  const host = canonicalAddress(text) ?? text.toLowerCase();
  const [account] = state.ofKind('Account');
  const domain = `.${peerDomainOf(account)}`;
  const named = host.endsWith(domain) ? state.lookUp(kindOf.peer, 'label', host.slice(0, -domain.length)) : [];
  const addressed = ['ip', 'ipv6'].flatMap((family) => state.findByUnique(kindOf.peer, family, host) ?? []);
  const peers = [...named, ...addressed].map(({ id }) => ({ id, exactness: Number.POSITIVE_INFINITY, enabled: true }));
  const resources = state.ofKind(kindOf.resource).map((object) => {
    const { address, enabled } = readResource(object);
    return { id: object.id, destinations: [address], enabled };
  });
  const routes = state.ofKind(kindOf.route).map((object) => {
    const { network, domains, enabled } = readRoute(object);
    return { id: object.id, destinations: [network, ...domains], enabled };
  });
  const matches = [...resources, ...routes].flatMap(({ id, destinations, enabled }) => {
    const exact = destinations.flatMap((destination) => exactnessOf(destination, host) ?? []);
    return exact.length === 0 ? [] : [{ id, exactness: Math.max(...exact), enabled }];
  });
  return [...peers, ...matches];
}

/**
 * Returns how exactly a destination (an address, a range or a domain) matches a host, or `undefined` when it does not.
 */
function exactnessOf(destination: string, host: string): number | undefined {
  const [range, single] = [parseCidr(destination), parseAddress(host)];
  if (range.ok) return single !== undefined && contains(range.cidr, single) ? range.cidr.prefix : undefined;
  const domain = destination.toLowerCase();
  if (domain === '') return undefined;
  if (domain === host) return Number.POSITIVE_INFINITY;
  return domain.startsWith('*.') && host.endsWith(domain.slice(1)) ? domain.length : undefined;
}
