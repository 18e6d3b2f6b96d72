import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { lowerToResponse } from '../../src/model/lower/response.ts';
import { canonicalSpec } from '../../src/model/schema/normalize.ts';
import { createValidator } from '../../src/model/schema/validation/validate.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { all, faultsOf, group, peer, registry, stateOf, stored } from './objects.ts';

const networkKind = registry.get('Network');
const resourceKind = registry.get('NetworkResource');
const routerKind = registry.get('NetworkRouter');
const validator = createValidator(registry);

const network = stored('Network', 'office', { name: 'Office' });
const resource = (id: string, spec: JsonObject = {}): StoredObject =>
  stored('NetworkResource', id, { network: 'office', name: id, address: '10.20.0.1', ...spec }, { parent: 'office' });
const router = (id: string, spec: JsonObject): StoredObject =>
  stored('NetworkRouter', id, { network: 'office', ...spec }, { parent: 'office' });

describe('the address of a resource', () => {
  it.each([
    ['10.20.0.10', '10.20.0.10/32', 'host'],
    ['10.20.0.10/32', '10.20.0.10/32', 'host'],
    ['10.20.0.0/31', '10.20.0.0/31', 'subnet'],
    ['10.20.0.0/16', '10.20.0.0/16', 'subnet'],
    ['0.0.0.0/0', '0.0.0.0/0', 'subnet'],
    ['2001:DB8:0::1', '2001:db8::1/128', 'host'],
    ['2001:db8::1/128', '2001:db8::1/128', 'host'],
    ['2001:db8::/127', '2001:db8::/127', 'subnet'],
    ['Files.Example.com.', 'files.example.com', 'domain'],
    ['*.example.com', '*.example.com', 'domain'],
    ['bücher.example', 'xn--bcher-kva.example', 'domain'],
  ])('%s is stored as %s, of type %s', (text, address, type) => {
    const object = resource('r', { address: text });
    expect(object.spec['address']).toBe(address);
    expect(faultsOf('NetworkResource', { network: 'n', name: 'r', address: text })).toEqual([]);
    expect(resourceKind.computed['type']?.value(object, stateOf())).toBe(type);
  });

  it.each([
    ['10.20.0.1/16', 'write `10.20.0.0/16`'],
    ['2001:db8::1/48', 'write `2001:db8::/48`'],
    ['10.20.0.0/33', 'one such as'],
    ['10.20.0', 'one such as'],
    ['10.20.0.256', 'one such as'],
    ['a..example', 'one such as'],
    ['a.*.example', 'one such as'],
    ['*', 'one such as'],
    ['http://example.com', 'one such as'],
    ['two words', 'one such as'],
  ])('%s is refused with a message that contains %s', (address, hint) => {
    const { faults } = canonicalSpec(resourceKind, { network: 'n', name: 'r', address });
    expect(faults.map(({ path }) => path)).toEqual(['/address']);
    expect(faults[0]?.message).toContain(hint);
  });
});

describe('a network resource', () => {
  it('has a name that is unique in the account', () => {
    expect(resourceKind.uniques['name']?.value(resource('files'))).toBe('files');
    expect(resourceKind.uniques['name']?.message('files')).toContain('already exists');
  });

  it('has its name as its natural key in the network', () => {
    expect(resourceKind.naturalKey?.(resource('files').spec as never)).toBe('files');
  });

  it('emits an event for each group that it joins or leaves', () => {
    const state = stateOf(network, group('a'), group('b'), group('c'));
    const before = resource('files', { groups: ['a', 'b'] });
    const after = resource('files', { groups: ['b', 'c'] });
    const base = { name: 'files', type: 'host', network_name: 'Office', network_id: 'office' };
    const meta = (id: string) => ({ ...base, resource_name: 'files', resource_id: 'files', group: id, group_id: id });
    expect(resourceKind.createEvents?.(before, state)).toEqual([
      { code: 'resource.group.add', target: 'a', meta: meta('a') },
      { code: 'resource.group.add', target: 'b', meta: meta('b') },
    ]);
    expect(resourceKind.updateEvents?.(before, after, state)).toEqual([
      { code: 'network.resource.update', meta: base },
      { code: 'resource.group.add', target: 'c', meta: meta('c') },
      { code: 'resource.group.delete', target: 'a', meta: meta('a') },
    ]);
    expect(resourceKind.deleteEvents?.(after, state).map(({ code, target }) => `${code} ${target}`)).toEqual([
      'resource.group.delete b',
      'resource.group.delete c',
    ]);
  });
});

describe('a network router', () => {
  const plain = { network: 'n', metric: 100, masquerade: true, enabled: true };

  it.each<readonly [string, JsonObject, readonly string[]]>([
    ['a peer', { peer: 'p' }, []],
    ['groups', { peer_groups: ['g'] }, []],
    ['a peer beside an empty list', { peer: 'p', peer_groups: [] }, []],
    ['groups beside an empty text', { peer: '', peer_groups: ['g'] }, []],
    ['both', { peer: 'p', peer_groups: ['g'] }, ['router_exclusive /peer_groups']],
    ['neither', {}, ['router_exclusive ']],
    ['neither, empty', { peer: '', peer_groups: [] }, ['router_exclusive ']],
  ])('with %s: %j gives the faults %j', (_, spec, faults) => {
    expect(faultsOf('NetworkRouter', { ...plain, ...spec })).toEqual(faults);
  });

  it.each([
    [0, false],
    [1, true],
    [9999, true],
    [10_000, false],
  ])('with the metric %i is accepted: %s', (metric, ok) => {
    const faults = validator.check('NetworkRouter', 'request', {
      ...plain,
      network: undefined,
      peer: 'p',
      metric,
    } as never);
    expect(faults.filter(({ path }) => path === '/metric').map(({ code }) => code)).toEqual(
      ok ? [] : ['value_out_of_range'],
    );
  });

  it('returns an unused `peer` as an empty string and omits an unused `peer_groups`', () => {
    const state = stateOf(network, group('g'), peer('p'));
    expect(lowerToResponse(registry, router('r', { peer_groups: ['g'] }), state)).toEqual({
      id: 'r',
      peer: '',
      peer_groups: ['g'],
      metric: 9999,
      masquerade: true,
      enabled: true,
    });
    expect(lowerToResponse(registry, router('r', { peer: 'p', key: 'main' }), state)).toEqual({
      id: 'r',
      peer: 'p',
      metric: 9999,
      masquerade: true,
      enabled: true,
    });
  });

  it.each<readonly [JsonObject, string]>([
    [{ peer: 'gate' }, 'peer/gate'],
    [{ peer_groups: ['b', 'a'] }, 'groups/a,b'],
    [{ peer: 'gate', key: 'main' }, 'main'],
  ])('with %j has the natural key %s', (spec, key) => {
    expect(routerKind.naturalKey?.(router('r', spec).spec as never)).toBe(key);
  });
});

describe('computed fields of a network', () => {
  const computed = (name: string, ...others: readonly StoredObject[]) =>
    networkKind.computed[name]?.value(network, stateOf(network, ...others));
  const peers = [peer('p1', '100.72.0.1'), peer('p2', '100.72.0.2'), peer('p3', '100.72.0.3')];

  it.each<readonly [string, readonly StoredObject[], number]>([
    ['no router', [], 0],
    ['one peer', [router('r1', { peer: 'p1' })], 1],
    ['a group', [router('r1', { peer_groups: ['g'] })], 2],
    ['a peer and its group, each peer once', [router('r1', { peer_groups: ['g'] }), router('r2', { peer: 'p1' })], 2],
    ['another peer and a group', [router('r1', { peer_groups: ['g'] }), router('r2', { peer: 'p3' })], 3],
    ['two groups that share a peer', [router('r1', { peer_groups: ['g', 'h'] })], 3],
    ['everybody', [router('r1', { peer_groups: ['All'] })], 3],
  ])('count the routing peers of %s', (_, routers, count) => {
    const groups = [group('g', ['p1', 'p2']), group('h', ['p2', 'p3']), all];
    expect(computed('routing_peers_count', ...peers, ...groups, ...routers)).toBe(count);
  });

  const rule = (more: JsonObject): JsonObject => ({
    name: 'r',
    action: 'accept',
    protocol: 'all',
    sources: ['devs'],
    ...more,
  });
  const policy = (id: string, more: JsonObject, enabled = true): StoredObject =>
    stored('Policy', id, { name: id, enabled, rules: [rule(more)] });

  it.each<readonly [string, StoredObject, boolean]>([
    ['names a resource', policy('p', { destinationResource: { id: 'files', type: 'host' } }), true],
    ['names a group of a resource', policy('p', { destinations: ['servers'] }), true],
    ['names another group', policy('p', { destinations: ['devs'] }), false],
    ['is disabled', policy('p', { destinations: ['servers'] }, false), false],
    ['has a disabled rule', policy('p', { destinations: ['servers'], enabled: false }), false],
    [
      'has the resource as a source',
      policy('p', { sources: [], sourceResource: { id: 'files', type: 'host' }, destinations: ['devs'] }),
      false,
    ],
    ['has its group as a source', policy('p', { sources: ['servers'], destinations: ['devs'] }), false],
  ])('list a policy only if an enabled rule has a resource as destination: it %s (%#)', (_, object, listed) => {
    const others = [group('servers'), group('devs'), resource('files', { groups: ['servers'] }), object];
    expect(computed('policies', ...others)).toEqual(listed ? ['p'] : []);
  });

  it('list routers and resources by id', () => {
    const state = stateOf(network, resource('b'), resource('a'), router('r', { peer: 'p1' }), peer('p1'));
    expect(lowerToResponse(registry, network, state)).toEqual({
      id: 'office',
      name: 'Office',
      description: '',
      resources: ['a', 'b'],
      routers: ['r'],
      routing_peers_count: 1,
      policies: [],
    });
  });
});
