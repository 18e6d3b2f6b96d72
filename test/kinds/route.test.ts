import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { lowerToResponse } from '../../src/model/lower/response.ts';
import { canonicalSpec } from '../../src/model/schema/normalize.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { all, faultsOf, group, peer, registry, stateFaultsOf, stateOf, stored, texts } from './objects.ts';

const kind = registry.get('Route');
const plain = { network_id: 'office', groups: ['devs'], network: '10.20.0.0/16', peer: 'p1' };

function canonical(spec: JsonObject): JsonObject {
  return canonicalSpec(kind, { ...plain, ...spec }).spec;
}

function route(id: string, spec: JsonObject): StoredObject {
  return stored('Route', id, { network_id: id, groups: ['devs'], ...spec });
}

describe('the destination and the routers of a route', () => {
  const cases: readonly (readonly [string, JsonObject, readonly string[]])[] = [
    ['a network by a peer', {}, []],
    ['domains by groups', { network: null, domains: ['example.com'], peer: null, peer_groups: ['g'] }, []],
    ['empty lists beside the other one', { domains: [], peer_groups: [] }, []],
    ['empty texts beside the other one', { network: '', domains: ['example.com'], peer: '', peer_groups: ['g'] }, []],
    ['a network and domains', { domains: ['example.com'] }, ['route_destination_exclusive /domains']],
    ['neither network nor domains', { network: null }, ['route_destination_exclusive ']],
    ['a peer and groups', { peer_groups: ['g'] }, ['route_router_exclusive /peer_groups']],
    ['neither peer nor groups', { peer: '' }, ['route_router_exclusive ']],
  ];

  it.each(cases)('%s: %j gives the faults %j', (_, spec, faults) => {
    expect(faultsOf('Route', { ...plain, ...spec })).toEqual(faults);
  });
});

describe('the network of a route', () => {
  it.each([
    ['10.20.0.0/16', '10.20.0.0/16', 'IPv4'],
    ['0.0.0.0/0', '0.0.0.0/0', 'IPv4'],
    ['2001:DB8:0::/48', '2001:db8::/48', 'IPv6'],
  ])('%s is stored as %s, of type %s', (network, text, type) => {
    expect(canonical({ network })['network']).toBe(text);
    const object = stored('Route', 'r', { ...plain, network });
    expect(kind.computed['network_type']?.value(object, stateOf())).toBe(type);
  });

  it.each([
    ['10.20.0.1/16', 'write `10.20.0.0/16`'],
    ['2001:db8::1/48', 'write `2001:db8::/48`'],
    ['10.20.0.1', 'write `10.20.0.1/32`'],
    ['2001:db8::1', 'write `2001:db8::1/128`'],
    ['10.20.0.0/33', 'one such as'],
    ['10.20.0.0/016', 'one such as'],
    ['office', 'one such as'],
  ])('%s is refused with a message that contains %s', (network, hint) => {
    const { faults } = canonicalSpec(kind, { ...plain, network });
    expect(texts(faults)).toEqual(['cidr_invalid /network']);
    expect(faults[0]?.message).toContain(hint);
  });
});

describe('the domains of a route', () => {
  it.each<readonly [string, readonly Json[], readonly string[]]>([
    ['case, trailing dot and repeats', ['Example.COM.', 'example.com'], ['example.com']],
    ['their order', ['b.example', 'a.example'], ['a.example', 'b.example']],
    ['Unicode', ['bücher.example'], ['xn--bcher-kva.example']],
    ['a wildcard in front', ['*.Example.com'], ['*.example.com']],
  ])('are stored in canonical form: %s', (_, domains, stated) => {
    expect(canonical({ network: null, domains })['domains']).toEqual(stated);
  });

  it.each(['-x.example', 'a..example', '10.0.0.1', 'a_b.example', 'x.*.example'])('cannot be %s', (name) => {
    const spec = { ...plain, network: null, domains: [name] };
    expect(faultsOf('Route', spec)).toEqual(['domain_invalid /domains/0']);
  });

  it('give the route the network type Domain', () => {
    const object = stored('Route', 'r', { ...plain, network: null, domains: ['example.com'] });
    expect(kind.computed['network_type']?.value(object, stateOf())).toBe('Domain');
  });
});

describe('routes to the same destination', () => {
  const net = '10.20.0.0/16';
  const others = [peer('p1'), peer('p2'), group('g12', ['p1', 'p2']), group('g2', ['p2']), group('g0'), all];
  const cases: readonly (readonly [string, JsonObject, JsonObject, string | undefined])[] = [
    ['by the same peer', { network: net, peer: 'p1' }, { network: net, peer: 'p1' }, '/peer'],
    ['by different peers', { network: net, peer: 'p1' }, { network: net, peer: 'p2' }, undefined],
    [
      'by one peer to another destination',
      { network: net, peer: 'p1' },
      { network: '10.20.0.0/17', peer: 'p1' },
      undefined,
    ],
    ['by a peer of the group', { network: net, peer: 'p1' }, { network: net, peer_groups: ['g12'] }, '/peer'],
    ['by a peer outside the group', { network: net, peer: 'p1' }, { network: net, peer_groups: ['g2'] }, undefined],
    [
      'by a group that holds the peer',
      { network: net, peer_groups: ['g12'] },
      { network: net, peer: 'p1' },
      '/peer_groups',
    ],
    ['by the same group', { network: net, peer_groups: ['g0'] }, { network: net, peer_groups: ['g0'] }, '/peer_groups'],
    [
      'by groups with a peer in common',
      { network: net, peer_groups: ['g12'] },
      { network: net, peer_groups: ['g2'] },
      '/peer_groups',
    ],
    ['by an empty group', { network: net, peer_groups: ['g0'] }, { network: net, peer_groups: ['g2'] }, undefined],
    ['by All and any peer', { network: net, peer_groups: ['All'] }, { network: net, peer: 'p2' }, '/peer_groups'],
    [
      'by All and an empty group',
      { network: net, peer_groups: ['All'] },
      { network: net, peer_groups: ['g0'] },
      undefined,
    ],
    [
      'by All and a group',
      { network: net, peer_groups: ['g2'] },
      { network: net, peer_groups: ['All'] },
      '/peer_groups',
    ],
    [
      'with the same domains',
      { domains: ['b.example', 'a.example'], peer: 'p1' },
      { domains: ['a.example', 'b.example'], peer: 'p1' },
      '/peer',
    ],
    [
      'with some of the domains',
      { domains: ['b.example', 'a.example'], peer: 'p1' },
      { domains: ['a.example'], peer: 'p1' },
      undefined,
    ],
  ];

  it.each(cases)('%s: %j beside %j gives a fault at %s', (_, one, two, path) => {
    const faults = stateFaultsOf(route('one', one), route('two', two), ...others);
    expect(texts(faults)).toEqual(path === undefined ? [] : [`route_overlaps ${path}`]);
    if (path !== undefined) expect(faults[0]?.message).toContain('already exists (`two`, id two)');
  });

  it('do not conflict with themselves', () => {
    expect(stateFaultsOf(route('one', { network: net, peer: 'p1' }), ...others)).toEqual([]);
  });
});

describe('a route', () => {
  const shown = (spec: JsonObject) => {
    const object = route('r', spec);
    return lowerToResponse(registry, object, stateOf(object));
  };

  it('is returned without unused lists, and with an unused peer as an empty string', () => {
    const byGroups = shown({ domains: ['a.example'], peer_groups: ['g'] });
    expect(byGroups).toMatchObject({ peer: '', peer_groups: ['g'], domains: ['a.example'], network_type: 'Domain' });
    expect(byGroups).not.toHaveProperty('network');
    const byPeer = shown({ network: '10.0.0.0/8', peer: 'p' });
    expect(byPeer).toMatchObject({ peer: 'p', network: '10.0.0.0/8', network_type: 'IPv4' });
    for (const name of ['domains', 'peer_groups', 'access_control_groups']) expect(byPeer).not.toHaveProperty(name);
  });

  it('has its destination and routers in the metadata of its events', () => {
    const object = route('r', { domains: ['a.example', 'b.example'], peer_groups: ['g1', 'g2'] });
    expect(kind.activityMeta?.(object, stateOf())).toEqual({
      name: 'r',
      network_range: '',
      domains: 'a.example, b.example',
      peer_id: '',
      peer_groups: 'g1, g2',
    });
  });

  it('gets default values in documents', () => {
    const { spec } = canonicalSpec(kind, plain);
    expect(spec).toMatchObject({ description: '', enabled: true, metric: 9999, masquerade: true, keep_route: false });
  });
});
