import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { lowerToResponse } from '../../src/model/lower/response.ts';
import { withEntryIds } from '../../src/model/schema/entries.ts';
import { canonicalSpec, canonicalStated } from '../../src/model/schema/normalize.ts';
import { createValidator } from '../../src/model/schema/validation/validate.ts';
import { faultsOf, group, peer, registry, stateOf, stored } from './objects.ts';

const kind = registry.get('Policy');
const validator = createValidator(registry);
const plain = { name: 'web', action: 'accept', protocol: 'tcp', sources: ['a'], destinations: ['b'] };

function policy(...rules: readonly JsonObject[]): JsonObject {
  return { name: 'Policy', rules: rules.map((rule) => ({ ...plain, ...rule })) };
}

function firstRule(spec: JsonObject): JsonObject {
  return (canonicalSpec(kind, spec).spec['rules'] as readonly JsonObject[])[0] ?? {};
}

describe('rules of a policy', () => {
  const peer = { id: 'p', type: 'peer' };
  const cases: readonly (readonly [string, JsonObject, readonly string[]])[] = [
    ['groups on both sides', {}, []],
    ['ports alone', { ports: ['80'] }, []],
    ['ranges alone', { port_ranges: [{ start: 80, end: 90 }] }, []],
    ['ports beside an empty list of ranges', { ports: ['80'], port_ranges: [] }, []],
    [
      'ports and ranges',
      { ports: ['80'], port_ranges: [{ start: 1, end: 2 }] },
      ['policy_ports_exclusive /rules/0/port_ranges'],
    ],
    ['a range of one port', { port_ranges: [{ start: 22, end: 22 }] }, []],
    ['a range that falls', { port_ranges: [{ start: 23, end: 22 }] }, ['policy_range_reversed /rules/0/port_ranges/0']],
    ['ports with udp', { protocol: 'udp', ports: ['53'] }, []],
    ['ports with ssh', { protocol: 'ssh', ports: ['22'] }, []],
    ['ports with all', { protocol: 'all', ports: ['80'] }, ['policy_ports_unused /rules/0/ports']],
    [
      'ranges with icmp',
      { protocol: 'icmp', port_ranges: [{ start: 1, end: 2 }] },
      ['policy_ports_unused /rules/0/port_ranges'],
    ],
    ['all without ports', { protocol: 'all' }, []],
    ['a resource in place of sources', { sources: [], sourceResource: peer }, []],
    ['a resource beside sources', { sourceResource: peer }, ['policy_sources_exclusive /rules/0/sources']],
    ['no source', { sources: [] }, ['policy_sources_exclusive /rules/0/sources']],
    [
      'a blank resource and no source',
      { sources: [], sourceResource: { id: '', type: '' } },
      ['policy_sources_exclusive /rules/0/sources'],
    ],
    ['a resource in place of destinations', { destinations: [], destinationResource: { id: 'h', type: 'host' } }, []],
    [
      'a resource beside destinations',
      { destinationResource: peer },
      ['policy_destinations_exclusive /rules/0/destinations'],
    ],
    ['no destination', { destinations: [] }, ['policy_destinations_exclusive /rules/0/destinations']],
  ];

  it.each(cases)('with %s: %j gives the faults %j', (_, rule, faults) => {
    expect(faultsOf('Policy', policy(rule))).toEqual(faults);
  });

  it('are named in the message when they are invalid', () => {
    const { spec } = canonicalSpec(kind, policy({}, { name: 'dns', sources: [] }));
    expect(kind.check?.(spec as never)[0]?.message).toContain('`dns`: `sources` and `sourceResource` are both missing');
  });

  it('may be several with the same name', () => {
    expect(faultsOf('Policy', policy({}, {}))).toEqual([]);
  });
});

describe('ports of a rule', () => {
  it.each([
    ['1', true],
    ['65535', true],
    ['0', false],
    ['65536', false],
    ['080', false],
    ['80-90', false],
    ['-1', false],
    ['http', false],
    ['', false],
  ])('accept %j: %s', (port, ok) => {
    expect(faultsOf('Policy', policy({ ports: [port] }))).toEqual(ok ? [] : ['port_invalid /rules/0/ports/0']);
  });

  it('must be strings: a number is a type error', () => {
    const codes = validator
      .check('Policy', 'request', policy({ ports: [80] }))
      .map(({ code, path }) => `${code} ${path}`);
    expect(codes).toContain('type_wrong /rules/0/ports/0');
  });

  it('are a set in numeric order', () => {
    expect(firstRule(policy({ ports: ['443', '80', '8080', '80'] }))['ports']).toEqual(['80', '443', '8080']);
  });

  it('are sorted in ascending order when given as ranges', () => {
    const range = (start: number, end: number): Json => ({ start, end });
    const rule = firstRule(policy({ port_ranges: [range(90, 99), range(1, 9), range(1, 3)] }));
    expect(rule['port_ranges']).toEqual([range(1, 3), range(1, 9), range(90, 99)]);
  });
});

describe('the canonical form of a policy', () => {
  it('sorts rules by name and fills in the defaults of documents', () => {
    const { spec } = canonicalSpec(kind, policy({ name: 'b' }, { name: 'a' }));
    expect((spec['rules'] as readonly JsonObject[]).map((rule) => rule['name'])).toEqual(['a', 'b']);
    expect(spec).toMatchObject({ description: '', enabled: true, source_posture_checks: [] });
    expect(firstRule(policy({}))).toMatchObject({ enabled: true, bidirectional: false, description: '', ports: [] });
  });

  it('states whole rules and omits other fields that were not given', () => {
    expect(Object.keys(canonicalStated(kind, policy({})).spec)).toEqual(['name', 'rules']);
    expect(canonicalStated(kind, { name: 'only' }).spec).toEqual({ name: 'only' });
  });

  it('drops an empty resource', () => {
    expect(firstRule(policy({ sourceResource: { id: '', type: '' } }))).not.toHaveProperty('sourceResource');
  });
});

describe('enabling a policy', () => {
  const object = (enabled: boolean) => stored('Policy', 'p', { ...policy({}), enabled });

  it.each([
    ['a disabled one becomes enabled', object(false), object(true), 1],
    ['an enabled one becomes disabled', object(true), object(false), 0],
    ['one stays enabled', object(true), object(true), 0],
    ['a new one is enabled', undefined, object(true), 0],
    ['a disabled one goes', object(false), undefined, 0],
  ])('warns only when a disabled policy becomes enabled: %s', (_, before, after, count) => {
    expect(kind.warnings?.(before, after)).toHaveLength(count);
  });
});

describe('requests for a policy', () => {
  it('may contain the id of a rule, unlike documents', () => {
    const spec = {
      ...policy({ id: 'r1', enabled: true, bidirectional: false }),
      enabled: true,
    };
    expect(validator.check('Policy', 'request', spec)).toEqual([]);
    expect(validator.check('Policy', 'document', spec).map(({ path }) => path)).toEqual(['/rules/0/id']);
  });

  it.each([
    ['protocol', 'sctp'],
    ['action', 'allow'],
  ])('refuse the %s %j', (field, value) => {
    const codes = validator
      .check('Policy', 'request', policy({ [field]: value }))
      .map(({ code, path }) => `${code} ${path}`);
    expect(codes).toContain(`value_not_allowed /rules/0/${field}`);
  });
});

describe('the response for a policy', () => {
  const rules = [
    { ...plain, name: 'a', sources: [], sourceResource: { id: 'p', type: 'peer' }, authorized_groups: { a: ['root'] } },
    { ...plain, name: 'b', ports: ['22'] },
  ];
  const object = withEntryIds(kind, stored('Policy', 'own', { name: 'Policy', rules }), () => 'second');
  const shown = lowerToResponse(registry, object, stateOf(object, group('a', ['p']), group('b'), peer('p')));
  const [byResource, byGroups] = shown['rules'] as readonly JsonObject[];

  it('gives the first rule the id of the policy and returns groups as summaries', () => {
    expect([byResource?.['id'], byGroups?.['id']]).toEqual(['own', 'second']);
    expect(byGroups?.['sources']).toEqual([{ id: 'a', name: 'a', peers_count: 1, resources_count: 0, issued: 'api' }]);
  });

  it('omits empty fields of rules', () => {
    expect(byResource).toMatchObject({ sourceResource: { id: 'p', type: 'peer' }, authorized_groups: { a: ['root'] } });
    for (const name of ['sources', 'ports', 'port_ranges', 'destinationResource'])
      expect(byResource).not.toHaveProperty(name);
    expect(byGroups).toMatchObject({ ports: ['22'] });
    for (const name of ['sourceResource', 'port_ranges', 'authorized_groups'])
      expect(byGroups).not.toHaveProperty(name);
    expect(shown['source_posture_checks']).toEqual([]);
  });
});
