import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { canonicalSpec } from '../../src/model/schema/normalize.ts';
import { faultsOf, registry } from './objects.ts';

const plain = { name: 't', from: 'a', to: 'b', protocol: 'tcp', expect: 'allow' };
const peer = { id: 'p', type: 'peer' };

describe('an access test', () => {
  it.each<readonly [string, JsonObject, readonly string[]]>([
    ['with groups on both sides', {}, []],
    ['with one peer', { from: '', fromResource: peer }, []],
    ['with a resource', { to: '', toResource: { id: 'r', type: 'subnet' } }, []],
    ['with nobody who opens', { from: '' }, ['access_test_from_exclusive ']],
    ['with a group and a peer', { fromResource: peer }, ['access_test_from_exclusive /fromResource']],
    ['with nobody who is reached', { to: '' }, ['access_test_to_exclusive ']],
    ['with two that are reached', { toResource: peer }, ['access_test_to_exclusive /toResource']],
    ['with a port', { port: '5432' }, []],
    ['with a range of ports', { port: '8000-8010' }, []],
    ['with a range that falls', { port: '8010-8000' }, ['port_or_range_invalid /port']],
    ['with a port that is none', { port: '70000' }, ['port_or_range_invalid /port']],
    ['with the port of a protocol that has none', { protocol: 'icmp', port: '80' }, ['access_test_port_unused /port']],
  ])('is validated: %s', (_, change, faults) => {
    expect(faultsOf('AccessTest', { ...plain, ...change })).toEqual(faults);
  });

  it('stores a range of one port as that port', () => {
    const { spec } = canonicalSpec(registry.get('AccessTest'), { ...plain, port: '80-80' });
    expect(spec['port']).toBe('80');
  });

  it('has no endpoints, because it is declared by documents', () => {
    const { path, verbs, document } = registry.get('AccessTest');
    expect([path, verbs, document.allowed]).toEqual([undefined, [], true]);
  });
});
