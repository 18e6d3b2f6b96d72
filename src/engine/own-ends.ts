import { kindOf, readResource } from '../access/vocabulary.ts';
import { contains, parseAddress, parseCidr } from '../lib/address.ts';
import { peerDomainOf } from '../model/peer-domain.ts';
import type { Snapshot } from '../model/snapshot.ts';

/** Ids of the peers and network resources that are meant by a host name or an address. */
export function endsAt(state: Snapshot, host: string): readonly string[] {
  const [account] = state.ofKind('Account');
  const domain = `.${peerDomainOf(account)}`;
  const named = host.endsWith(domain) ? state.lookUp(kindOf.peer, 'label', host.slice(0, -domain.length)) : [];
  const addressed = ['ip', 'ipv6'].flatMap((family) => state.holderOf(kindOf.peer, family, host) ?? []);
  const resources = state.ofKind(kindOf.resource).filter((object) => holds(readResource(object).address, host));
  return [...named, ...addressed, ...resources].map(({ id }) => id);
}

/** Whether the address of a resource is that of the host, or one of those that it stands for. */
function holds(address: string, host: string): boolean {
  const [range, single] = [parseCidr(address), parseAddress(host)];
  if (range.ok) return single !== undefined && contains(range.cidr, single);
  return address === host || (address.startsWith('*.') && host.endsWith(address.slice(1)));
}
