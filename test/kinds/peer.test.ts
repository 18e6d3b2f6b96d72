import { describe, expect, it } from 'vitest';
import { nameToLabel } from '../../src/kinds/peer/label.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { canonicalDomain } from '../../src/lib/net/domain.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { account, faultsOf, group, peer, registry, stateOf, stored, texts } from './objects.ts';

const kind = registry.get('Peer');
const plain = { name: 'Build server', dns_label: 'build', ip: '100.72.0.12' };

describe('a peer', () => {
  it.each([
    ['ip', '100.72.0.12', undefined],
    ['ip', 'fd00::1', 'ipv4_invalid'],
    ['ip', '100.72.0.012', 'ipv4_invalid'],
    ['ipv6', 'fd00::1', undefined],
    ['ipv6', '100.72.0.12', 'ipv6_invalid'],
    ['dns_label', '-build', 'domain_invalid'],
  ])('with %s %s has the fault %s', (field, value, code) => {
    expect(faultsOf('Peer', { ...plain, [field]: value })).toEqual(code === undefined ? [] : [`${code} /${field}`]);
  });

  it('stores its IPv6 address in canonical form', () => {
    expect(stored('Peer', 'p', { ...plain, ipv6: 'FD00:0::1' }).spec['ipv6']).toBe('fd00::1');
  });

  it.each([
    ['ip', '100.72.0.12'],
    ['ipv6', undefined],
    ['dns_label', 'build'],
  ])('has a unique %s', (rule, value) => {
    expect(kind.uniques[rule]?.value(stored('Peer', 'p', plain))).toBe(value);
    expect(kind.uniques[rule]?.message('x')).toContain('already exists');
  });

  it('is created only by enrolment; documents and references may exist before it', () => {
    expect(kind.document).toEqual({ allowed: true, shortName: 'hpeer', creates: false });
    expect(kind.verbs).not.toContain('create');
    expect(kind.pending).toBe(true);
  });
});

describe('events of a peer', () => {
  const state = stateOf(account({ dns_domain: 'mesh.example.com' }));
  const codes = (change: JsonObject) =>
    kind
      .updateEvents?.(stored('Peer', 'p', plain), stored('Peer', 'p', { ...plain, ...change }), state)
      .map(({ code }) => code);

  it.each<readonly [JsonObject, readonly string[]]>([
    [{}, []],
    [{ name: 'CI' }, ['peer.rename']],
    [{ ssh_enabled: true }, ['peer.ssh.enable']],
    [{ login_expiration_enabled: true }, ['peer.login.expiration.enable']],
    [{ inactivity_expiration_enabled: true }, ['peer.inactivity.expiration.enable']],
    [{ ip: '100.72.0.13' }, ['peer.ip.update']],
    [{ approval_required: true }, ['peer.approval.revoke']],
  ])('for the change %j are %j', (change, expected) => {
    expect(codes(change)).toEqual(expected);
  });

  it('carry its name, domain name, address and creation time', () => {
    expect(kind.activityMeta?.(peer('build', '100.72.0.12'), state)).toEqual({
      name: 'Peer build',
      fqdn: 'build.mesh.example.com',
      ip: '100.72.0.12',
      created_at: '2026-01-02T03:04:05Z',
    });
  });
});

describe('the address of a peer', () => {
  const settings = account({
    network_range: '100.72.0.0/16',
    network_range_v6: 'fd00:7a3c:91e2::/64',
    ipv6_enabled_groups: ['v6'],
  });
  const after = (change: JsonObject) => stored('Peer', 'p', { ...plain, ...change });
  const faults = (change: JsonObject, members: readonly string[] = ['p']) => {
    const state = stateOf(settings, group('v6', members), stored('Peer', 'p', plain));
    return texts(
      kind.checkMutation?.({ before: stored('Peer', 'p', plain), after: after(change) }, state, state) ?? [],
    );
  };

  it.each<readonly [JsonObject, readonly string[]]>([
    [{ ip: '100.72.0.1' }, []],
    [{ ip: '100.72.255.254' }, []],
    [{ ip: '100.72.0.0' }, ['peer_address_outside /ip']],
    [{ ip: '100.72.255.255' }, ['peer_address_outside /ip']],
    [{ ip: '100.73.0.1' }, ['peer_address_outside /ip']],
    [{ ipv6: 'fd00:7a3c:91e2::1' }, []],
    [{ ipv6: 'fd00:7a3c:91e2::' }, ['peer_address_outside /ipv6']],
    [{ ipv6: 'fd00:7a3c:91e3::1' }, ['peer_address_outside /ipv6']],
  ])('changed to %j gives the faults %j', (change, expected) => {
    expect(faults(change)).toEqual(expected);
  });

  it('cannot be set for IPv6 unless a group of the peer has IPv6', () => {
    expect(faults({ ipv6: 'fd00:7a3c:91e2::1' }, [])).toEqual(['precondition_failed /ipv6']);
  });

  it('is not validated while it does not change', () => {
    const outside = stored('Peer', 'p', { ...plain, ip: '10.0.0.1' });
    const named = stored('Peer', 'p', { ...plain, ip: '10.0.0.1', name: 'CI' });
    const state = stateOf(settings, outside);
    expect(kind.checkMutation?.({ before: outside, after: named }, state, state)).toEqual([]);
  });
});

describe('the expirations of a peer', () => {
  const faults = (user: JsonObject) => {
    const before = stored('Peer', 'p', { ...plain, ...user });
    const after = stored('Peer', 'p', { ...plain, ...user, login_expiration_enabled: true });
    const state = stateOf(before);
    return texts(kind.checkMutation?.({ before, after }, state, state) ?? []);
  };

  it('can be changed only for a peer of a user, who can sign in again', () => {
    expect(faults({ user_id: 'ana' })).toEqual([]);
    expect(faults({})).toEqual(['precondition_failed /login_expiration_enabled']);
  });
});

describe('the DNS label of a peer', () => {
  it.each([
    ['Build server', 'build-server'],
    ['build.example.com', 'build'],
    ['Größe', 'xn--gre-6ka8i'],
    ['__ci__', 'ci'],
    ['Ana’s laptop', nameToLabel('Ana’s laptop')],
    ['2024', 'peer-2024'],
    ['x'.repeat(80), 'x'.repeat(59)],
    ['ü'.repeat(80), undefined],
    ['---', undefined],
    ['', undefined],
  ])('for the name %s is %s', (name, label) => {
    expect(nameToLabel(name)).toBe(label);
    if (label !== undefined) expect(label).toMatch(/^[a-z\d]([a-z\d-]{0,57}[a-z\d])?$/);
  });

  const renamed = (more: Partial<StoredObject>, ...others: readonly StoredObject[]) => {
    const before = stored('Peer', 'p', plain, { key: 'build', ...more });
    const after = { ...before, name: 'CI', spec: { ...before.spec, name: 'CI' } };
    const [derived] = kind.derivedChanges?.({ before, after, newId: () => 'new' }, stateOf(after, ...others)) ?? [];
    return derived !== undefined && 'change' in derived ? [derived.change.key, derived.spec?.['dns_label']] : undefined;
  };

  it('follows the name, with part of the address appended when it is taken', () => {
    expect(renamed({})).toEqual(['ci', 'ci']);
    expect(renamed({}, peer('ci'))).toEqual(['ci-0-12', 'ci-0-12']);
  });

  it.each([
    ['x'.repeat(80), `${'x'.repeat(55)}-113-209`],
    [`${'x'.repeat(54)}-yyyy`, `${'x'.repeat(54)}-113-209`],
    ['Größe', 'xn--gre-113-209-w6a21a'],
    ['ü'.repeat(50), 'peer-113-209'],
  ])('for the taken name %s is %s, still a valid label', (name, expected) => {
    const [one, two] = [nameToLabel(name) ?? '', 'other'];
    const before = stored('Peer', two, { ...plain, ip: '100.72.113.209' }, { key: two });
    const after = { ...before, name, spec: { ...before.spec, name } };
    const state = stateOf(after, peer(one));
    const [made] = kind.derivedChanges?.({ before, after, newId: () => 'new' }, state) ?? [];
    const label = String(made !== undefined && 'change' in made && made.spec?.['dns_label']);
    expect(label).toBe(expected);
    expect(canonicalDomain(label)).toBe(label);
  });

  it('does not change when documents refer to the peer', () => {
    const declared = [{ source: 'git', stated: {}, file: 'peers.yaml', line: 1 }];
    expect(renamed({ declared })).toBeUndefined();
    expect(renamed({}, group('devs', ['p'], { declared }))).toBeUndefined();
  });
});

describe('a deleted peer', () => {
  const rule = { name: 'r', enabled: true, action: 'accept', bidirectional: false, protocol: 'all' };
  const toPeer = { ...rule, sources: ['devs'], destinationResource: { id: 'p', type: 'peer' } };
  const policy = stored('Policy', 'to-p', { name: 'To p', enabled: true, rules: [toPeer] });

  const question = { from: 'devs', toResource: { id: 'p', type: 'peer' }, expect: 'allow' };
  const test = stored('AccessTest', 'tries-p', { name: 'Tries p', ...question });

  it('is removed from its groups, and the policies and access tests that name it are deleted', () => {
    const before = stored('Peer', 'p', plain);
    const state = stateOf(peer('q', '100.72.0.2'), group('devs', ['p', 'q', 'gone']), policy, test);
    const derivedChanges = kind.derivedChanges?.({ before, newId: () => 'new' }, state) ?? [];
    expect(
      derivedChanges.map((item) => ('remove' in item ? item.remove.id : 'change' in item && item.members)),
    ).toEqual([
      {
        peers: [
          ['gone', []],
          ['p', []],
        ],
      },
      'to-p',
      'tries-p',
    ]);
  });
});

it('a peer that moved shows its current location, not that of its enrolment', () => {
  const derived = { connection_ip: '192.0.2.1', country_code: 'CH', city_name: 'Bern', geoname_id: 2661552 };
  const object = stored('Peer', 'p', plain, { derived });
  const shown = (location: JsonObject | undefined) => {
    const state = stateOf(object).viewedAs({ now: '', viewer: '', observed: () => location });
    return Object.keys(derived).map((name) => kind.computed[name]?.value(object, state));
  };
  expect(shown(undefined)).toEqual(['192.0.2.1', 'CH', 'Bern', 2661552]);
  expect(shown({ connection_ip: '192.0.2.9', country_code: 'DE' })).toEqual(['192.0.2.9', 'DE', '', 0]);
});

describe('a list of peers', () => {
  const known = { network_addresses: [{ net_ip: '10.20.0.7/24', mac: '02:42:0A:14:00:07' }] };
  const object = stored('Peer', 'p', { ...plain, ipv6: 'fd00::12' }, { derived: known });
  it.each([
    ['name', 'server', true],
    ['name', 'SERVER', false],
    ['ip', '0.12', true],
    ['ip', '::12', true],
    ['ip', 'FD00::', true],
    ['ip', '9', false],
    ['mac', '02:42:0a:14:00:07', true],
    ['mac', '02:42:0a', false],
  ])('filtered by %s=%s contains the peer: %s', (filter, value, expected) => {
    expect(kind.filters?.[filter]?.matches(object, value, stateOf())).toBe(expected);
  });
});
