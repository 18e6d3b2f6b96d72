import { expect, test } from 'vitest';
import { mapKindOf } from '../../src/access/netmap/object-readers.ts';
import { groupFields, kindOf, readPolicy } from '../../src/access/ruleset/object-readers.ts';
import { entriesOf } from '../../src/model/schema/field-search.ts';
import { registry, stored } from '../kinds/objects.ts';

/**
 * The fields that `src/access` reads of each kind. A field that is renamed must be renamed here and in `src/access`.
 */
const fields = {
  Group: ['peers'],
  NetworkResource: ['address', 'enabled', 'groups'],
  NetworkRouter: ['enabled', 'peer', 'peer_groups', 'metric', 'masquerade'],
  Peer: ['approval_required'],
  Policy: ['enabled', 'source_posture_checks', 'rules'],
  PostureCheck: ['checks'],
  Route: [
    ...['network_id', 'enabled', 'peer', 'peer_groups', 'network', 'domains', 'metric', 'masquerade', 'groups'],
    ...['access_control_groups', 'keep_route', 'skip_auto_apply'],
  ],
};

test('the registry has every kind and field that access reads', () => {
  for (const kind of Object.values(kindOf)) expect(registry.find(kind)?.name).toBe(kind);
  for (const [kind, names] of Object.entries(fields)) {
    const declared = entriesOf(registry.get(kind).spec).map(([name]) => name);
    expect([kind, names.filter((name) => !declared.includes(name))]).toEqual([kind, []]);
  }
  expect(registry.get(kindOf.router).parent?.kind).toBe(kindOf.network);
  expect(registry.get(kindOf.resource).parent?.kind).toBe(kindOf.network);
  expect(Object.values(groupFields)).toEqual(['groups', 'access_control_groups', 'peers']);
});

const reportedFields = {
  Account: ['settings'],
  DNSRecord: ['name', 'type', 'content', 'ttl'],
  DNSSettings: ['disabled_management_groups'],
  DNSZone: ['domain', 'enabled', 'enable_search_domain', 'distribution_groups'],
  NameserverGroup: ['enabled', 'groups', 'nameservers', 'primary', 'domains', 'search_domains_enabled'],
  Peer: ['ip', 'ipv6', 'dns_label', 'extra_dns_labels', 'wg_pub_key', 'user_id', 'ssh_enabled'],
  User: ['auto_groups', 'is_blocked'],
};

test('the registry has every kind and field that maps read', () => {
  for (const kind of Object.values(mapKindOf)) expect(Object.keys(reportedFields)).toContain(kind);
  for (const [kind, names] of Object.entries(reportedFields)) {
    const declared = entriesOf(registry.get(kind).spec).map(([name]) => name);
    expect([kind, names.filter((name) => !declared.includes(name))]).toEqual([kind, []]);
  }
  expect(registry.get(mapKindOf.record).parent?.kind).toBe(mapKindOf.zone);
});

test('readPolicy reads every member of a rule, with its assigned id', () => {
  const ports = {
    port_ranges: [
      { start: 8000, end: 8010 },
      { start: 80, end: 80 },
    ],
  };
  const rule = { name: 'r', enabled: true, action: 'drop', bidirectional: true, protocol: 'tcp', ...ports };
  const ends = { sources: ['g1'], destinationResource: { id: 'p1', type: 'peer' } };
  const authorized = { protocol: 'ssh', port_ranges: [], authorized_groups: { g1: ['deploy'] } };
  const spec = {
    name: 'P',
    enabled: true,
    source_posture_checks: ['c1'],
    rules: [
      { ...rule, ...ends },
      { ...rule, ...ends, ...authorized },
    ],
  };
  const policy = stored('Policy', 'y1', spec, {
    derived: { entry_ids: { rules: { r: 'y1', 'r#2': 'y2' } }, derived_from: 's1' },
    declared: [{ source: 'git', stated: {}, file: 'policies.yaml', line: 5 }],
  });
  const common = { name: 'r', enabled: true, action: 'drop', bidirectional: true };
  const sides = { sources: { groups: ['g1'] }, destinations: { groups: [], one: 'p1' } };
  expect(readPolicy(policy)).toEqual({
    id: 'y1',
    name: 'P',
    enabled: true,
    postures: ['c1'],
    origin: 's1',
    declared: [{ source: 'git', file: 'policies.yaml', line: 5 }],
    rules: [
      {
        ...common,
        ...sides,
        id: 'y1',
        key: 'r',
        protocol: 'tcp',
        ports: [
          { start: 80, end: 80 },
          { start: 8000, end: 8010 },
        ],
        authorized: {},
      },
      { ...common, ...sides, id: 'y2', key: 'r#2', protocol: 'ssh', ports: [], authorized: { g1: ['deploy'] } },
    ],
  });
  expect(readPolicy(policy)).toBe(readPolicy(policy));
});
