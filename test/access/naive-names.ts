import type { StoredObject } from '../../src/model/state/object.ts';
import { isIn, type Naive } from './naive.ts';

// biome-ignore lint/suspicious/noExplicitAny: the model reads stored specs as they come, without the program's readers
type Raw = any;

/** Returns what a peer resolves, computed naively from the stored objects. */
export function naiveNamesOf(account: Naive, peer: string, active: boolean) {
  const ofKind = (kind: string) =>
    account.objects.filter((object) => object.kind === kind).sort((a, b) => (a.id < b.id ? -1 : 1));
  const isOf = (groups: readonly string[]) => groups.some((group) => isIn(account, peer, group));
  const disabled = ofKind('DNSSettings').some(({ spec }) => isOf((spec as Raw).disabled_management_groups));
  if (!active || disabled) return { dns: { managed: false }, zones: [], nameservers: [] };
  const reported = (kind: string, field: string) =>
    ofKind(kind).filter(({ spec }) => spec['enabled'] === true && isOf(spec[field] as readonly string[]));
  const [zones, servers] = [reported('DNSZone', 'distribution_groups'), reported('NameserverGroup', 'groups')];
  const domain = (ofKind('Account')[0]?.spec as Raw)?.settings.dns_domain || 'heddle.internal';
  const search = [
    domain,
    ...zones.filter(({ spec }) => spec['enable_search_domain']).map(({ spec }) => spec['domain']),
    ...servers.filter(({ spec }) => spec['search_domains_enabled']).flatMap(({ spec }) => spec['domains']),
  ];
  return {
    dns: { managed: true, domain, search: [...new Set(search)] },
    zones: zones.map((zone) => ({
      id: zone.id,
      domain: zone.spec['domain'],
      records: ofKind('DNSRecord')
        .filter(({ parent }) => parent === zone.id)
        .map(recordText),
    })),
    nameservers: servers.map(({ id, spec }) => ({
      id,
      name: id,
      nameservers: spec['nameservers'],
      primary: spec['primary'],
      domains: spec['domains'],
    })),
  };
}

function recordText({ spec: { name, type, content, ttl } }: StoredObject) {
  return { name, type, content, ttl };
}
