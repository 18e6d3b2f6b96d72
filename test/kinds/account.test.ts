import { describe, expect, it } from 'vitest';
import { buildAccountObjects } from '../../src/kinds/new-account.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { canonicalSpec, canonicalStated } from '../../src/model/schema/normalize.ts';
import { account, faultsOf, group, peer, registry, stateFaultsOf, stateOf, stored, texts } from './objects.ts';

const kind = registry.get('Account');

describe('the network ranges of an account', () => {
  it.each([
    ['network_range', '100.72.0.0/16', undefined],
    ['network_range', '10.0.0.0/28', undefined],
    ['network_range', '10.0.0.0/29', 'network_range_invalid'],
    ['network_range', 'fd00::/64', 'network_range_invalid'],
    ['network_range', '127.0.0.0/16', 'network_range_invalid'],
    ['network_range', '169.254.0.0/16', 'network_range_invalid'],
    ['network_range', '239.0.0.0/16', 'network_range_invalid'],
    ['network_range', '0.0.0.0/0', 'network_range_invalid'],
    ['network_range', '100.72.0.1/16', 'cidr_invalid'],
    ['network_range', '100.72.0.1', 'cidr_invalid'],
    ['network_range_v6', 'fd00::/48', undefined],
    ['network_range_v6', 'fd00::/120', undefined],
    ['network_range_v6', 'fd00::/47', 'network_range_invalid'],
    ['network_range_v6', 'fd00::/121', 'network_range_invalid'],
    ['network_range_v6', '100.72.0.0/16', 'network_range_invalid'],
    ['network_range_v6', 'fe80::/64', 'network_range_invalid'],
    ['network_range_v6', 'ff00::/64', 'network_range_invalid'],
  ])('are validated: %s %s: %s', (field, range, code) => {
    expect(faultsOf('Account', { settings: { [field]: range } })).toEqual(
      code === undefined ? [] : [`${code} /settings/${field}`],
    );
  });

  it.each([
    [9, '/28', true],
    [10, '/28', false],
    [20, '/27', true],
    [21, '/27', false],
  ])('need room for 1.5 times the number of peers: %i peers in a %s: %s', (count, prefix, ok) => {
    const peers = Array.from({ length: count }, (_, at) => peer(`p${at}`, `10.0.0.${at + 1}`));
    const faults = stateFaultsOf(account({ network_range: `10.0.0.0${prefix}` }), ...peers);
    expect(texts(faults)).toEqual(ok ? [] : ['network_range_too_small /settings/network_range']);
  });

  it('warn of what a change does to peers', () => {
    const [before, after] = [account({ network_range: '10.0.0.0/16' }), account({ network_range: '10.1.0.0/16' })];
    expect(kind.warnings?.(before, after)).toEqual([
      'network_range becomes 10.1.0.0/16: every peer outside it gets a new IPv4 address',
    ]);
    const six = account({ network_range: '10.0.0.0/16', network_range_v6: 'fd00::/64' });
    expect(kind.warnings?.(six, before)).toEqual(['network_range_v6 becomes unset: every peer loses its IPv6 address']);
    expect(kind.warnings?.(before, before)).toEqual([]);
    expect(kind.warnings?.(undefined, after)).toEqual([]);
  });
});

describe('other settings of an account', () => {
  it.each([
    ['auto_update_version', 'latest', undefined],
    ['auto_update_version', 'disabled', undefined],
    ['auto_update_version', '1.4.2', undefined],
    ['auto_update_version', '1.4.2-rc.1+b7', undefined],
    ['auto_update_version', '', undefined],
    ['auto_update_version', '1.4', 'version_invalid'],
    ['auto_update_version', 'v1.4.2', 'version_invalid'],
    ['auto_update_version', 'newest', 'version_invalid'],
    ['dns_domain', 'Mesh.Example.com', undefined],
    ['dns_domain', '', undefined],
    ['dns_domain', '*.example.com', 'domain_invalid'],
    ['dns_domain', 'mesh_.example.com', 'domain_invalid'],
  ])('are validated: %s %j: %s', (field, value, code) => {
    expect(faultsOf('Account', { settings: { [field]: value } })).toEqual(
      code === undefined ? [] : [`${code} /settings/${field}`],
    );
  });

  it('allow publishing without groups, which means all peers', () => {
    expect(faultsOf('Account', { settings: { peer_expose_enabled: true, peer_expose_groups: [] } })).toEqual([]);
  });

  it('refuse the domain of a DNS zone', () => {
    const zone = stored('DNSZone', 'z', { name: 'Zone', domain: 'example.com', distribution_groups: ['g'] });
    const faults = stateFaultsOf(account({ dns_domain: 'example.com' }), zone);
    expect(texts(faults)).toEqual(['account_dns_domain_taken /settings/dns_domain']);
    expect(stateFaultsOf(account({ dns_domain: 'mesh.example.com' }), zone)).toEqual([]);
  });

  it('may be declared one by one', () => {
    expect(canonicalStated(kind, { settings: { peer_login_expiration: 7200 } }).spec).toEqual({
      settings: { peer_login_expiration: 7200 },
    });
    expect(canonicalSpec(kind, {}).spec['settings']).toMatchObject({
      peer_login_expiration_enabled: true,
      peer_login_expiration: 86400,
      peer_inactivity_expiration: 600,
      groups_propagation_enabled: true,
      auto_update_version: 'disabled',
      extra: { user_approval_required: true, network_traffic_logs_groups: [] },
    });
  });
});

describe('the audit events of changed settings', () => {
  const extra = (value: JsonObject): JsonObject => ({ extra: value });
  const cases: readonly (readonly [JsonObject, JsonObject, readonly unknown[]])[] = [
    [{}, {}, []],
    [{}, { jwt_groups_enabled: true }, []],
    [{}, { peer_login_expiration_enabled: false }, [['account.setting.peer.login.expiration.disable', {}]]],
    [{}, { peer_login_expiration: 7200 }, [['account.setting.peer.login.expiration.update', {}]]],
    [{}, { peer_inactivity_expiration_enabled: true }, [['account.peer.inactivity.expiration.enable', {}]]],
    [{}, { peer_inactivity_expiration: 900 }, [['account.peer.inactivity.expiration.update', {}]]],
    [{}, { groups_propagation_enabled: false }, [['account.setting.group.propagation.disable', {}]]],
    [{}, { routing_peer_dns_resolution_enabled: false }, [['account.setting.routing.peer.dns.resolution.disable', {}]]],
    [{}, { lazy_connection_enabled: false }, [['account.setting.lazy.connection.disable', {}]]],
    [{}, { peer_expose_enabled: true }, [['account.setting.peer.expose.enable', {}]]],
    [{}, extra({ peer_approval_enabled: true }), [['account.setting.peer.approval.enable', {}]]],
    [{}, { ipv6_enabled_groups: ['devs'] }, [['account.setting.ipv6.enable', {}]]],
    [{ ipv6_enabled_groups: ['devs'] }, {}, [['account.setting.ipv6.disable', {}]]],
    [{ ipv6_enabled_groups: ['devs'] }, { ipv6_enabled_groups: ['ops'] }, []],
    [{}, { auto_update_version: '1.2.3' }, [['account.settings.auto.version.update', { version: '1.2.3' }]]],
    [
      {},
      { dns_domain: 'a.example' },
      [['account.dns.domain.update', { old_dns_domain: '', new_dns_domain: 'a.example' }]],
    ],
    [
      { network_range: '10.0.0.0/16' },
      { network_range: '10.1.0.0/16' },
      [['account.network.range.update', { old_network_range: '10.0.0.0/16', new_network_range: '10.1.0.0/16' }]],
    ],
    [
      { network_range_v6: 'fd00::/64' },
      { network_range_v6: 'fd01::/64' },
      [['account.network.range.update', { old_network_range_v6: 'fd00::/64', new_network_range_v6: 'fd01::/64' }]],
    ],
    [
      extra({ network_traffic_logs_groups: ['devs'] }),
      extra({ network_traffic_logs_groups: ['ops'] }),
      [
        ['account.settings.extra.flow.group.add', { group: 'ops', group_id: 'ops' }],
        ['account.settings.extra.flow.group.remove', { group: 'devs', group_id: 'devs' }],
      ],
    ],
  ];

  it.each(cases)('from %j to %j are %j', (before, after, events) => {
    const found = kind.updateEvents?.(account(before), account(after), stateOf(group('devs'), group('ops')));
    expect(found?.map(({ code, meta }) => [code, meta])).toEqual(events);
  });
});

describe('a new account', () => {
  const build = (more: JsonObject = {}) => {
    let count = 0;
    return buildAccountObjects({
      accountId: 'acc',
      now: '2026-01-02T03:04:05Z',
      newId: () => `id${++count}`,
      networkRange: '100.72.0.0/16',
      networkRangeV6: 'fd00:7a3c:91e2::/64',
      domain: 'example.com',
      owner: { id: 'owner', name: 'Machine' },
      ...more,
    });
  };
  const objects = build().map((object) => stored(object.kind, object.id, object.spec, { derived: object.derived }));

  it('consists of the account, the group All, the policy Default and its owner', () => {
    expect(build().map(({ kind: name, id, key }) => [name, id, key])).toEqual([
      ['Account', 'acc', 'account'],
      ['Group', 'id1', undefined],
      ['Policy', 'id2', undefined],
      ['User', 'owner', undefined],
    ]);
  });

  it('is canonical and valid', () => {
    for (const [at, { kind: name, spec }] of build().entries()) {
      const declared = registry.get(name);
      expect(canonicalSpec(declared, spec)).toMatchObject({ spec, faults: [] });
      expect(declared.check?.(spec as never) ?? []).toEqual([]);
      const object = objects[at];
      if (object !== undefined) expect(declared.checkState?.(object, stateOf(...objects)) ?? []).toEqual([]);
    }
  });

  it('lets all peers reach each other by a rule that has the id of its policy', () => {
    expect(build()[2]?.spec['rules']).toMatchObject([
      {
        name: 'Default',
        action: 'accept',
        protocol: 'all',
        bidirectional: true,
        sources: ['id1'],
        destinations: ['id1'],
      },
    ]);
    expect(build()[2]?.derived).toEqual({ entry_ids: { rules: { Default: 'id2' } } });
  });

  it('has network ranges, and gives IPv6 addresses to all peers', () => {
    expect(build()[0]?.spec['settings']).toMatchObject({
      network_range: '100.72.0.0/16',
      network_range_v6: 'fd00:7a3c:91e2::/64',
      ipv6_enabled_groups: ['id1'],
    });
    expect(build()[0]?.spec['onboarding']).toEqual({ signup_form_pending: true, onboarding_flow_pending: true });
  });

  it('shows its creator, its creation time and its domain', () => {
    const shown = (more?: JsonObject) => {
      const [made] = build(more);
      const object = stored('Account', 'acc', {}, { derived: made?.derived ?? {} });
      return Object.entries(kind.computed).map(([name, { value }]) => [name, value(object, stateOf())]);
    };
    expect(shown()).toEqual([
      ['domain', 'example.com'],
      ['domain_category', 'private'],
      ['created_by', 'owner'],
      ['created_at', '2026-01-02T03:04:05Z'],
    ]);
    expect(shown({ domain: '' })[1]).toEqual(['domain_category', '']);
  });

  it('stores the DNS domain of peers that the installation was started with', () => {
    expect(build({ peerDnsDomain: 'mesh.test' })[0]?.derived['peer_dns_domain']).toBe('mesh.test');
    expect(build()[0]?.derived).not.toHaveProperty('peer_dns_domain');
  });
});
