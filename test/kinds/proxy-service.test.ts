import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import type { DerivedChange } from '../../src/model/declare/mutation.ts';
import { canonicalSpec, canonicalStated } from '../../src/model/schema/normalize.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { faultsOf, group, registry, stateFaultsOf, stateOf, stored, texts } from './objects.ts';

const kind = registry.get('ProxyService');
const target = { target_id: 'p1', target_type: 'peer', protocol: 'http', port: 8080, enabled: true };
const plain = { name: 'App', domain: 'app.proxy.example.com', enabled: true };
const sealed = 'sealed:k:YQ==';

const faults = (spec: JsonObject) => faultsOf('ProxyService', { ...plain, ...spec });
const withTarget = (more: JsonObject, spec: JsonObject = {}) => faults({ targets: [{ ...target, ...more }], ...spec });
const withOptions = (mode: string, options: JsonObject) => withTarget({ options }, { mode });
const canonical = (spec: JsonObject) => canonicalSpec(kind, { ...plain, ...spec }).spec;

function service(id: string, spec: JsonObject = {}, derived: JsonObject = {}): StoredObject {
  return stored('ProxyService', id, { ...plain, name: id, domain: `${id}.proxy.example.com`, ...spec }, { derived });
}

function cluster(address = 'proxy.example.com', more: JsonObject = {}): StoredObject {
  return stored('ProxyCluster', `cluster ${address}`, { address, type: 'account', ...more });
}

describe('the mode of a proxy service', () => {
  it.each<readonly [string, JsonObject, readonly string[]]>([
    ['http without anything', {}, []],
    ['http with several targets', { targets: [target, { ...target, path: '/api' }] }, []],
    ['http on port 0', { listen_port: 0 }, []],
    ['http on a port', { listen_port: 443 }, ['service_port_unused /listen_port']],
    ['tcp without a target', { mode: 'tcp' }, []],
    ['tcp with one target', { mode: 'tcp', targets: [target] }, []],
    ['tcp with two targets', { mode: 'tcp', targets: [target, target] }, ['service_targets_many /targets']],
    ['udp with two targets', { mode: 'udp', targets: [target, target] }, ['service_targets_many /targets']],
    ['tls on a port of its choice', { mode: 'tls', listen_port: 8443, targets: [target] }, []],
    [
      'tls with a PIN',
      { mode: 'tls', auth: { pin_auth: { enabled: true, pin: sealed } } },
      ['service_auth_unused /auth'],
    ],
    ['tls with a link', { mode: 'tls', auth: { link_auth: { enabled: true } } }, ['service_auth_unused /auth']],
    [
      'tcp with a header',
      { mode: 'tcp', auth: { header_auths: [{ enabled: true, header: 'X-Key', value: sealed }] } },
      ['service_auth_unused /auth'],
    ],
    ['tcp with disabled ways of signing in', { mode: 'tcp', auth: { link_auth: { enabled: false } } }, []],
  ])('%s: %j gives the faults %j', (_, spec, expected) => {
    expect(faults(spec)).toEqual(expected);
  });

  it('cannot be changed', () => {
    const [before, after] = [service('a'), service('a', { mode: 'tcp' })];
    const mutation = (one: StoredObject | undefined, other: StoredObject | undefined) =>
      texts(
        kind.checkMutation?.(
          { ...(one === undefined ? {} : { before: one }), ...(other === undefined ? {} : { after: other }) },
          stateOf(),
          stateOf(),
        ) ?? [],
      );
    expect(mutation(before, after)).toEqual(['service_mode_fixed /mode']);
    expect([mutation(before, before), mutation(undefined, after), mutation(before, undefined)]).toEqual([[], [], []]);
  });
});

describe('targets of a proxy service', () => {
  const direct = { options: { direct_upstream: true } };
  it.each<readonly [string, JsonObject, readonly string[]]>([
    ['a peer', {}, []],
    ['a subnet with a host', { target_type: 'subnet', host: '10.20.0.5' }, []],
    ['a subnet without a host', { target_type: 'subnet' }, ['target_host_missing /targets/0/host']],
    ['a subnet with an empty host', { target_type: 'subnet', host: '' }, ['target_host_missing /targets/0/host']],
    ['a cluster', { target_type: 'cluster', host: 'app.example.com', ...direct }, []],
    ['a cluster without a host', { target_type: 'cluster', ...direct }, ['target_host_missing /targets/0/host']],
    [
      'a cluster through the mesh',
      { target_type: 'cluster', host: 'app.example.com' },
      ['target_not_direct /targets/0/options/direct_upstream'],
    ],
    ['a host with a port', { host: 'app.example.com:80', ...direct }, ['host_invalid /targets/0/host']],
    ['an IPv6 host in brackets', { host: '[::1]', ...direct }, ['host_invalid /targets/0/host']],
    ['a host with a path', { host: 'app/x', ...direct }, ['host_invalid /targets/0/host']],
    ['a host with a space', { host: 'a b', ...direct }, ['host_invalid /targets/0/host']],
    ['a path', { path: '/api' }, []],
    ['a path without a slash', { path: 'api' }, ['path_invalid /targets/0/path']],
    ['a path with a query', { path: '/a?b' }, ['path_invalid /targets/0/path']],
  ])('%s: %j gives the faults %j', (_, more, expected) => {
    expect(withTarget(more)).toEqual(expected);
  });

  const all = ['http', 'tcp', 'udp', 'tls'];
  it.each<readonly [string, JsonObject, readonly string[]]>([
    ['skip_tls_verify', { skip_tls_verify: true }, ['http']],
    ['path_rewrite', { path_rewrite: 'preserve' }, ['http']],
    ['custom_headers', { custom_headers: { 'X-A': 'b' } }, ['http']],
    ['proxy_protocol', { proxy_protocol: true }, ['tcp', 'tls']],
    ['session_idle_timeout', { session_idle_timeout: '30s' }, ['udp']],
    ['request_timeout', { request_timeout: '30s' }, all],
    ['direct_upstream', { direct_upstream: true }, all],
  ])('accept the option %s (%j) only in the modes %j', (name, options, modes) => {
    for (const mode of all) {
      const expected = modes.includes(mode) ? [] : [`target_option_unused /targets/0/options/${name}`];
      expect(withOptions(mode, options), mode).toEqual(expected);
    }
  });

  it('accept a path only in the mode http', () => {
    expect(withTarget({ path: '/' }, { mode: 'tcp' })).toEqual(['target_option_unused /targets/0/path']);
  });

  it.each(['peer', 'host', 'domain'])('of type %s keep a given host only with `direct_upstream`', (type) => {
    const hostIn = (options: JsonObject) =>
      (
        canonical({ targets: [{ ...target, target_type: type, host: 'Other.example.com', options }] })[
          'targets'
        ] as readonly JsonObject[]
      )[0]?.['host'];
    expect(hostIn({})).toBeUndefined();
    expect(hostIn({ direct_upstream: true })).toBe('other.example.com');
  });

  it.each<readonly [string, string | undefined]>([
    ['30s', '30s'],
    ['0m30s', '30s'],
    ['2m', '2m0s'],
    ['90s', '1m30s'],
    ['1.5h', '1h30m0s'],
    ['0s', undefined],
    ['-30s', undefined],
    ['30', undefined],
    ['soon', undefined],
  ])('E36 store the duration %s as %s', (text, value) => {
    const options = { request_timeout: text };
    expect(withOptions('http', options)).toEqual(
      value === undefined ? ['duration_invalid /targets/0/options/request_timeout'] : [],
    );
    if (value === undefined) return;
    const [shown] = canonical({ targets: [{ ...target, options }] })['targets'] as readonly JsonObject[];
    expect(shown?.['options']).toMatchObject({ request_timeout: value });
  });

  it('must have the type of the network resource that the documents use', () => {
    const resource = stored('NetworkResource', 'r', { network: 'n', name: 'r', address: '10.20.0.5/32', groups: [] });
    const of = (target_type: string) =>
      texts(
        stateFaultsOf(service('a', { targets: [{ ...target, target_id: 'r', target_type, host: 'h' }] }), resource),
      );
    expect(of('host')).toEqual([]);
    expect(of('subnet')).toEqual(['target_type_wrong /targets/0/target_type']);
    expect(of('domain')).toEqual(['target_type_wrong /targets/0/target_type']);
  });
});

describe('headers of a proxy service', () => {
  const custom = (custom_headers: JsonObject) =>
    withOptions('http', { custom_headers }).map((text) => text.replace('/targets/0/options/custom_headers/', ''));
  const auth = (...names: readonly string[]) =>
    faults({ auth: { header_auths: names.map((header) => ({ enabled: true, header, value: sealed })) } });

  it.each(['Host', 'host', 'Connection', 'transfer-encoding', 'TE', 'Upgrade', 'X-Forwarded-For', 'Content-Length'])(
    'refuse %s, which the proxy manages',
    (name) => {
      expect(custom({ [name]: 'x' })).toEqual([`header_name_managed ${name}`]);
      expect(auth(name)).toEqual(['header_name_managed /auth/header_auths/0/header']);
    },
  );

  it.each(['', 'X Key', 'X:Key', 'Schlüssel', 'X\n'])('refuse the name %j', (name) => {
    expect(custom({ [name]: 'x' })).toEqual([`header_name_invalid ${name}`]);
  });

  it('have names of at most 128 characters that differ by more than case', () => {
    expect(custom({ ['x'.repeat(128)]: 'x' })).toEqual([]);
    expect(custom({ ['x'.repeat(129)]: 'x' })).toEqual([`header_name_invalid ${'x'.repeat(129)}`]);
    expect(custom({ 'X-A': '1', 'x-a': '2' })).toEqual(['header_name_repeated x-a']);
    expect(auth('X-A', 'x-a')).toEqual(['header_name_repeated /auth/header_auths/1/header']);
  });

  it('refuse values with line breaks', () => {
    expect(custom({ 'X-A': 'a\tb' })).toEqual([]);
    expect(custom({ 'X-A': 'a\r\nHost: b' })).toEqual(['header_value_invalid X-A']);
  });
});

describe('authentication of a proxy service', () => {
  it.each<readonly [string, JsonObject, readonly string[]]>([
    ['a password', { password_auth: { enabled: true, password: sealed } }, []],
    ['no password', { password_auth: { enabled: true } }, ['service_secret_missing /auth/password_auth/password']],
    ['a disabled password', { password_auth: { enabled: false } }, []],
    ['no PIN', { pin_auth: { enabled: true } }, ['service_secret_missing /auth/pin_auth/pin']],
    [
      'no value',
      { header_auths: [{ enabled: true, header: 'X-Key' }] },
      ['service_secret_missing /auth/header_auths/0/value'],
    ],
    ['a disabled header', { header_auths: [{ enabled: false, header: 'X-Key' }] }, []],
    ['a link', { link_auth: { enabled: true } }, []],
    ['users of no group', { bearer_auth: { enabled: true } }, []],
  ])('%s: %j gives the faults %j', (_, auth, expected) => {
    expect(faults({ auth })).toEqual(expected);
  });

  it('drops the secrets of disabled methods', () => {
    const auth = {
      password_auth: { enabled: false, password: sealed },
      pin_auth: { enabled: false, pin: sealed },
      header_auths: [
        { enabled: false, header: 'X-A', value: sealed },
        { enabled: true, header: 'X-B', value: sealed },
      ],
    };
    const kept = {
      password_auth: { enabled: false },
      pin_auth: { enabled: false },
      header_auths: [
        { enabled: false, header: 'X-A' },
        { enabled: true, header: 'X-B', value: sealed },
      ],
    };
    expect(canonical({ auth })['auth']).toEqual(kept);
    expect(canonicalStated(kind, { ...plain, auth }).spec['auth']).toEqual(kept);
  });

  it('warns when a change removes the need to sign in', () => {
    const asks = service('a', { auth: { link_auth: { enabled: true } } });
    expect(kind.warnings?.(asks, service('a'))).toEqual(['the service a becomes reachable without a sign-in']);
    expect([
      kind.warnings?.(service('a'), asks),
      kind.warnings?.(undefined, service('a')),
      kind.warnings?.(asks, undefined),
    ]).toEqual([[], [], []]);
  });
});

describe('access restrictions of a proxy service', () => {
  const lists = (name: string, values: readonly Json[]) => faults({ access_restrictions: { [name]: values } });

  it('are CIDR ranges without host bits and two-letter country codes, stored in upper case', () => {
    expect(lists('allowed_cidrs', ['10.0.0.1/8'])).toEqual(['cidr_invalid /access_restrictions/allowed_cidrs/0']);
    expect(lists('blocked_cidrs', ['10.0.0.0/8', '2001:DB8::/32'])).toEqual([]);
    expect(lists('allowed_countries', ['DEU'])).toEqual(['country_invalid /access_restrictions/allowed_countries/0']);
    expect(lists('blocked_countries', ['d3'])).toEqual(['country_invalid /access_restrictions/blocked_countries/0']);
    const spec = canonical({
      access_restrictions: { allowed_countries: ['de', 'CH', 'DE'], blocked_cidrs: ['2001:DB8::/32'] },
    });
    expect(spec['access_restrictions']).toMatchObject({
      allowed_countries: ['CH', 'DE'],
      blocked_cidrs: ['2001:db8::/32'],
    });
  });

  it.each<readonly [string, JsonObject | undefined, readonly string[]]>([
    ['off', undefined, []],
    ['enforce', { supports_reputation: true }, []],
    ['observe', { supports_reputation: true }, []],
    [
      'enforce',
      { supports_reputation: false },
      ['service_reputation_unsupported /access_restrictions/reputation_mode'],
    ],
    ['observe', {}, ['service_reputation_unsupported /access_restrictions/reputation_mode']],
    ['enforce', undefined, ['service_reputation_unsupported /access_restrictions/reputation_mode']],
  ])('with the reputation mode %s on a cluster with %j give the faults %j', (reputation_mode, abilities, expected) => {
    const clusters = abilities === undefined ? [] : [cluster('proxy.example.com', abilities)];
    expect(texts(stateFaultsOf(service('a', { access_restrictions: { reputation_mode } }), ...clusters))).toEqual(
      expected,
    );
  });
});

describe('listen ports of a proxy service', () => {
  const tcp = (id: string, listen_port: number, more: JsonObject = {}) =>
    service(id, { mode: 'tcp', listen_port, ...more }, {});
  const free = cluster('proxy.example.com', { supports_custom_ports: true });

  it('can be chosen only on a known cluster that supports custom ports', () => {
    expect(texts(stateFaultsOf(tcp('a', 5432), free))).toEqual([]);
    for (const others of [[], [cluster()], [cluster('proxy.example.com', { supports_custom_ports: false })]])
      expect(texts(stateFaultsOf(tcp('a', 5432), ...others))).toEqual(['service_port_unsupported /listen_port']);
    expect(texts(stateFaultsOf(tcp('a', 0)))).toEqual([]);
  });

  it('are unique among the services of a cluster', () => {
    const other = cluster('other.example.com', { supports_custom_ports: true });
    expect(texts(stateFaultsOf(tcp('a', 5432), tcp('b', 5432), free))).toEqual(['value_taken /listen_port']);
    expect(texts(stateFaultsOf(tcp('a', 5432), tcp('b', 5433), free))).toEqual([]);
    expect(
      texts(stateFaultsOf(tcp('a', 5432), tcp('b', 5432, { domain: 'b.other.example.com' }), free, other)),
    ).toEqual([]);
    const chosen = service('b', { mode: 'udp' }, { listen_port: 5432 });
    expect(texts(stateFaultsOf(tcp('a', 5432), chosen, free))).toEqual(['value_taken /listen_port']);
  });

  const settled = (derivedChanges: readonly DerivedChange[] | undefined) =>
    (derivedChanges ?? []).map((one) => ('change' in one ? one.derived?.['listen_port'] : one));
  const settle = (after: StoredObject, before: StoredObject | undefined, ...others: readonly StoredObject[]) =>
    settled(
      kind.derivedChanges?.(
        { after, newId: () => 'new', ...(before === undefined ? {} : { before }) },
        stateOf(after, ...others),
      ),
    );

  it('are assigned by the server when none is chosen, each once, and do not change', () => {
    const [a, b, taken] = [tcp('a', 0), tcp('b', 0), service('t', { mode: 'udp' }, { listen_port: 10_000 })];
    expect(settle(a, undefined, b, taken)).toEqual([10_001]);
    expect(settle(b, undefined, a, taken)).toEqual([10_002]);
    expect(settle({ ...a, derived: { listen_port: 12_345 } }, undefined)).toEqual([]);
    expect(settle(service('h'), undefined)).toEqual([]);
  });

  it('are kept when a chosen one is set to 0, and an assigned one is released when another is chosen', () => {
    expect(settle(tcp('a', 0), tcp('a', 5432))).toEqual([5432]);
    expect(settle({ ...tcp('a', 6000), derived: { listen_port: 10_000 } }, undefined)).toEqual([0]);
  });
});

describe('the cluster of a service', () => {
  const shownIn = (domain: string, ...clusters: readonly StoredObject[]) =>
    kind.computed['proxy_cluster']?.value(service('a', { domain }), stateOf(...clusters));

  it('is the one with the longest address that is a suffix of the domain', () => {
    const [wide, narrow] = [cluster('example.com'), cluster('eu.example.com')];
    expect(shownIn('app.eu.example.com', wide, narrow)).toBe('eu.example.com');
    expect(shownIn('app.us.example.com', wide, narrow)).toBe('example.com');
    expect(shownIn('eu.example.com', wide, narrow)).toBe('eu.example.com');
    expect(shownIn('app.badexample.com', wide, narrow)).toBeUndefined();
  });

  it('does not serve its bare address when it requires a subdomain', () => {
    const strict = cluster('eu.example.com', { require_subdomain: true });
    expect(shownIn('eu.example.com', strict)).toBeUndefined();
    expect(shownIn('eu.example.com', strict, cluster('example.com'))).toBe('example.com');
    expect(shownIn('app.eu.example.com', strict)).toBe('eu.example.com');
  });
});

describe('private services', () => {
  it.each<readonly [string, JsonObject, readonly string[]]>([
    ['with groups', { access_groups: ['g'] }, []],
    ['without groups', {}, ['service_private_groups /access_groups']],
    ['of another mode', { access_groups: ['g'], mode: 'tcp' }, ['service_private_mode /private']],
    [
      'with bearer auth',
      { access_groups: ['g'], auth: { bearer_auth: { enabled: true } } },
      ['service_private_bearer /auth/bearer_auth'],
    ],
    ['with disabled bearer auth', { access_groups: ['g'], auth: { bearer_auth: { enabled: false } } }, []],
  ])('%s: %j gives the faults %j', (_, spec, expected) => {
    expect(faults({ private: true, ...spec })).toEqual(expected);
  });

  it('keep their access groups; services that are not private drop them', () => {
    expect(canonical({ access_groups: ['g'] })['access_groups']).toEqual([]);
    expect(canonical({ private: false, access_groups: ['g'] })['access_groups']).toEqual([]);
    expect(canonical({ private: true, access_groups: ['g'] })['access_groups']).toEqual(['g']);
  });

  const follow = (after: StoredObject, ...others: readonly StoredObject[]) =>
    kind.derivedChanges?.({ after, newId: () => 'new' }, stateOf(after, group('g'), ...others)) ?? [];
  const own = service('a', { private: true, access_groups: ['g'] });

  it('create a policy to the proxies of their cluster, and the group of the proxies if it is missing', () => {
    expect(follow(own)).toEqual([]);
    const [proxies, policy] = follow(own, cluster()).map((one) => ('add' in one ? one.add : undefined));
    expect(proxies).toMatchObject({ kind: 'Group', spec: { name: 'Proxies of proxy.example.com' } });
    expect(policy).toMatchObject({
      kind: 'Policy',
      derived: { derived_from: 'a' },
      spec: { name: 'Access to a', rules: [{ sources: ['g'], destinations: [proxies?.id] }] },
    });
    expect(policy?.spec['description']).toContain('a.proxy.example.com');
    for (const made of [proxies, policy]) expect(made?.id).toMatch(/^[0-9a-v]{20}$/);
  });
});
