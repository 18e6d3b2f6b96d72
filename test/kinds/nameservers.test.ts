import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { faultsOf, group, registry, stateOf, stored } from './objects.ts';

const server = { ip: '10.20.0.53' };
const plain = { name: 'Office', nameservers: [server], groups: ['devs'], domains: ['office.example.com'] };

describe('a nameserver group', () => {
  it.each<readonly [JsonObject, readonly string[]]>([
    [{}, []],
    [{ domains: [] }, ['nameserver_domains_exclusive /domains']],
    [{ primary: true }, ['nameserver_domains_exclusive /domains']],
    [{ primary: true, domains: [] }, []],
    [{ search_domains_enabled: true }, []],
    [
      { primary: true, domains: [], search_domains_enabled: true },
      ['nameserver_search_unused /search_domains_enabled'],
    ],
    [{ domains: ['*.example.com'] }, ['domain_invalid /domains/0']],
    [{ nameservers: [{ ip: '10.20.0.530' }] }, ['address_invalid /nameservers/0/ip']],
  ])('with %j has the faults %j', (change, expected) => {
    expect(faultsOf('NameserverGroup', { ...plain, ...change })).toEqual(expected);
  });

  it('keeps the order of its servers, and stores the port and canonical address of each', () => {
    const nameservers = [{ ip: 'FD00::0:53', port: 5353 }, server];
    expect(stored('NameserverGroup', 'n', { ...plain, nameservers }).spec['nameservers']).toEqual([
      { ip: 'fd00::53', ns_type: 'udp', port: 5353 },
      { ip: '10.20.0.53', ns_type: 'udp', port: 53 },
    ]);
  });
});

describe('DNS settings', () => {
  it('emit an account event for each disabled management group added or removed', () => {
    const settings = (groups: readonly string[]) =>
      stored('DNSSettings', 's', { disabled_management_groups: groups as string[] });
    const events = registry
      .get('DNSSettings')
      .updateEvents?.(settings(['a', 'b']), settings(['b', 'c']), stateOf(group('a'), group('c')));
    const code = 'dns.setting.disabled.management.group';
    expect(events).toEqual([
      { code: `${code}.add`, target: 'acc', meta: { group: 'c', group_id: 'c' } },
      { code: `${code}.delete`, target: 'acc', meta: { group: 'a', group_id: 'a' } },
    ]);
  });
});
