import { isWithin } from '../../lib/net/domain.ts';
import type { Fault, State } from '../../model/declare/kind.ts';
import { peerDomainOf } from '../../model/declare/peer-domain.ts';
import type { Stored } from '../../model/state/stored.ts';

const mostNames = 10;

/** The domain must be free for a zone, and every record of the zone must lie in it. */
export function checkDomain(zone: Stored<'DNSZone'>, state: State): readonly Fault[] {
  const domain = zone.spec.domain ?? '';
  const [account] = state.ofKind('Account');
  return [...(peerDomainOf(account) === domain ? [reserved(domain)] : []), ...recordsOutside(zone, domain, state)];
}

function reserved(domain: string): Fault {
  const message = `\`${domain}\` is the domain of the peers of this account; choose a domain below it or another one`;
  return { code: 'zone_domain_reserved', path: '/domain', message };
}

/** Records that existed before: one that is made in the same step has rules of its own. */
function recordsOutside(zone: Stored<'DNSZone'>, domain: string, state: State): readonly Fault[] {
  const names = state
    .childrenOf(zone.id, 'DNSRecord')
    .filter(({ name, createdRevision }) => createdRevision < zone.updatedRevision && !isWithin(name, domain));
  if (names.length === 0) return [];
  const shown = [...new Set(names.map(({ name }) => `\`${name}\``))].slice(0, mostNames);
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : '';
  const message = `records of the zone would lie outside \`${domain}\`: ${shown.join(', ')}${more}; move or delete them first`;
  return [{ code: 'zone_records_outside', path: '/domain', message }];
}
