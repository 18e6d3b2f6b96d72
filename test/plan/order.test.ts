import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/lib/json.ts';
import { sha256 } from '../../src/lib/node-pure.ts';
import { runToEnd } from '../../src/lib/steps.ts';
import type { Document } from '../../src/model/document.ts';
import { createComparison, digestOf as digestOfInput, engineVersionOf } from '../../src/plan/digest.ts';
import { group, registry, stored } from '../kinds/objects.ts';
import { allow, applyOn, createOn, document, linesOf, office, planned, planOn } from './steps.ts';

const zone = (name: string, groups: readonly string[], records: readonly string[] = []) =>
  document('DNSZone', name, {
    domain: `${name}.example.com`,
    distribution_groups: groups,
    records: records.map((host) => ({ name: `${host}.${name}.example.com`, type: 'A', content: '10.0.0.1' })),
  });

const some: readonly Document[] = [
  document('Group', 'devs', { peers: ['p1', 'p2'] }),
  document('Group', 'ops', { name: 'Operations' }),
  allow('p', ['devs', 'ops'], ['All']),
  zone('lan', ['ops', 'devs'], ['www', 'db']),
];
const digestOf = (documents: readonly Document[], settings = {}) =>
  planned(planOn(office, 'a', documents, settings)).plan.digest;

/** Returns the documents with the members of every object in reverse order. */
function reversed<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(reversed) as Value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, item]) => [name, reversed(item)]),
  ) as Value;
}

describe('the order of changes', () => {
  it('E89 creates the new group, updates the policy, then deletes the old group', () => {
    const state = applyOn(office, 'a', [document('Group', 'old'), allow('p', ['old'], ['All'])]);
    const outcome = planOn(state, 'a', [document('Group', 'new'), allow('p', ['new'], ['All'])]);
    expect(linesOf(outcome, state)).toEqual(['create Group/new', 'update Policy/p: rules[main]', 'delete Group/old']);
  });

  it('E90 deletes a policy before its group, and records before their zone', () => {
    const state = applyOn(office, 'a', [...some, document('Group', 'rest')]);
    expect(linesOf(planOn(state, 'a', [document('Group', 'rest')]), state)).toEqual([
      'delete DNSRecord/lan/db.lan.example.com/A/10.0.0.1',
      'delete DNSRecord/lan/www.lan.example.com/A/10.0.0.1',
      'delete Policy/p',
      'delete DNSZone/lan',
      'delete Group/devs',
      'delete Group/ops',
    ]);
  });

  it('E92 does not depend on the order of the documents', () => {
    const lines = linesOf(planOn(office, 'a', some), office);
    expect(lines).toEqual([
      'create Group/devs',
      'create Group/ops',
      'create DNSZone/lan',
      'create Policy/p',
      'create DNSRecord/lan/db.lan.example.com/A/10.0.0.1',
      'create DNSRecord/lan/www.lan.example.com/A/10.0.0.1',
    ]);
    expect(planned(planOn(office, 'a', [...some].reverse())).plan).toEqual(planned(planOn(office, 'a', some)).plan);
  });

  it('allows two objects to swap a unique value in one plan', () => {
    const named = (one: string, two: string) => [
      document('Group', 'one', { name: one }),
      document('Group', 'two', { name: two }),
    ];
    const state = applyOn(office, 'a', named('x', 'y'));
    expect(linesOf(planOn(state, 'a', named('y', 'x')), state)).toEqual([
      'update Group/one: name',
      'update Group/two: name',
    ]);
  });

  it('allows a new object to take the name of a deleted one in one plan', () => {
    const state = applyOn(office, 'a', [document('Group', 'one', { name: 'x' })]);
    expect(linesOf(planOn(state, 'a', [document('Group', 'two', { name: 'x' })]), state)).toEqual([
      'create Group/two',
      'delete Group/one',
    ]);
  });
});

describe('a document with unchanged content', () => {
  it('E83 may move to another file and line, which the plan lists as a move without a change', () => {
    const state = applyOn(office, 'a', [document('Group', 'devs', {}, { file: 'a.yaml', line: 1 })]);
    const { plan } = planned(planOn(state, 'a', [document('Group', 'devs', {}, { file: 'b/c.yaml', line: 30 })]));
    expect([plan.changes, plan.claims, plan.moves.map(({ position }) => `${position.file}:${position.line}`)]).toEqual([
      [],
      [],
      ['b/c.yaml:30'],
    ]);
  });

  it('E84 may keep its previous names forever', () => {
    const stated: Document = { ...document('Group', 'devs'), metadata: { name: 'devs', previousNames: ['old-devs'] } };
    const state = applyOn(office, 'a', [stated]);
    expect(linesOf(planOn(state, 'a', [stated]), state)).toEqual([]);
  });
});

describe('the digest of a plan', () => {
  it('E107 changes with the version of the program', () => {
    const comparison = createComparison('a');
    const input = { account: 'a', registry, comparison, options: {}, changes: [], claims: [], guards: [] };
    const engine = engineVersionOf(registry);
    const digest = (version: string) => runToEnd(digestOfInput({ ...input, engine: version }));
    expect(digest(engine)).toBe(digest(engineVersionOf(registry)));
    expect(digest(engine)).not.toBe(digest('1.0'));
    const whole = { account: 'a', source: null, options: {}, operations: [], claims: [], guards: [], engine };
    expect(digest(engine)).toBe(sha256(canonicalJson(whole)));
    const [kind] = registry.kinds;
    const changed = { ...registry, kinds: [{ ...kind, spec: {} }] } as never;
    expect(engineVersionOf(changed)).not.toBe(engine);
  });

  it('E109 does not depend on the order of documents, members, files and lines, nor on new ids', () => {
    const moved = some.map((item) => ({ ...item, position: { ...item.position, file: 'elsewhere.yaml', line: 99 } }));
    expect([
      digestOf([...some].reverse()),
      digestOf(reversed(some)),
      digestOf(moved),
      digestOf(some, { ids: 'aaa' }),
      digestOf(some, { ids: 'zzz' }),
    ]).toEqual(Array(5).fill(digestOf(some)));
  });

  it.each([
    ['a value', [...some.slice(1), document('Group', 'devs', { peers: ['p1', 'p3'] })]],
    ['a missing document', some.slice(1, 2)],
    ['a member of a rule', [...some.filter(({ kind }) => kind !== 'Policy'), allow('p', ['devs'], ['All'])]],
    ['another key', [...some, document('Group', 'more')]],
    [
      'an inline child',
      [...some.filter(({ kind }) => kind !== 'DNSZone'), zone('lan', ['ops', 'devs'], ['www', 'mail'])],
    ],
  ])('E74 differs when the documents differ in %s', (_, other) => {
    expect(digestOf(other)).not.toBe(digestOf(some));
  });

  it('depends on the account, the source and the options', () => {
    const plain = digestOf(some);
    const other = planned(planOn(office, 'b', some)).plan.digest;
    expect(new Set([plain, other, digestOf(some, { prune: false }), digestOf(some, { allowEmpty: true })]).size).toBe(
      4,
    );
  });

  it('E103 does not depend on objects that the plan does not concern', () => {
    const busy = planned(createOn(office, 'Group', { name: 'unrelated', peers: ['p3'] })).next;
    expect(planned(planOn(busy, 'a', some)).plan.digest).toBe(digestOf(some));
  });

  it('E104 depends on the previous values of what the plan changes', () => {
    const [one, two] = [true, false].map((enabled) =>
      office.with({
        put: [stored('Policy', 'pol', { name: 'p', enabled, description: 'd', rules: [] }, { key: 'p', owner: 'a' })],
        remove: [],
      }),
    );
    const digests = [one, two].map(
      (state) => planned(planOn(state ?? office, 'a', [allow('p', ['All'], ['All'], { enabled: true })])).plan.digest,
    );
    expect(digests[0]).not.toBe(digests[1]);
  });

  it('contains references by id, so it differs for another object of the same name', () => {
    const [one, two] = ['g1', 'g2'].map((id) =>
      office.with({ put: [{ ...group(id), name: 'devs', spec: { name: 'devs' } }], remove: [] }),
    );
    const digests = [one, two].map(
      (state) => planned(planOn(state ?? office, 'a', [allow('p', ['devs'], ['All'])])).plan.digest,
    );
    expect(digests[0]).not.toBe(digests[1]);
  });
});
