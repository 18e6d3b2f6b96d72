import { describe, expect, it } from 'vitest';
import { exportDocuments } from '../../src/features/config/archive/export.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { maxProblems } from '../../src/model/problem.ts';
import { maxEntries } from '../../src/model/schema/field.ts';
import { group, stored } from '../kinds/objects.ts';
import { applyOn, createOn, document, linesOf, office, planOn, problemsOf, refusals, replaceOn } from './steps.ts';

const texts = (count: number, prefix = 'u') => Array.from({ length: count }, (_, at) => `${prefix}${at}`);

describe('a list that was stored before its limit was introduced', () => {
  const rule = (users: readonly string[], groups: readonly string[]): JsonObject => ({
    ...{ name: 'main', enabled: true, bidirectional: false, action: 'accept', protocol: 'ssh' },
    ...{ sources: groups, destinations: groups, ports: ['22'] },
    authorized_groups: Object.fromEntries(groups.map((id) => [id, users])),
  });
  const policy = (users: readonly string[], more: JsonObject = {}, groups = ['g1']): JsonObject => ({
    ...{ name: 'ssh', description: '', enabled: true, source_posture_checks: [], rules: [rule(users, groups)] },
    ...more,
  });
  const developers = group('g1', [], { name: 'Developers', key: 'developers' });
  const tooMany = maxEntries + 5;
  const object = stored('Policy', 'ssh', policy(texts(tooMany)), { key: 'ssh' });
  const other = stored('Policy', 'other', policy(texts(tooMany + 10), { name: 'other' }), { key: 'other' });
  const state = office.with({ put: [developers, object, other], remove: [] }, 2);
  const managed = state.with({ put: [object, other].map((one) => ({ ...one, owner: 'git' })), remove: [] }, 3);
  const replaced = (users: readonly string[], more: JsonObject = {}) =>
    refusals(replaceOn(state, 'Policy', 'ssh', policy(users, more)));
  const statingOn = (on: typeof state, key: string, users: readonly string[], annotations = {}) => {
    const spec = policy(users, { description: 'new' }, ['developers']);
    return refusals(planOn(on, 'git', [document('Policy', key, spec, { annotations })]));
  };
  const stating = (key: string, users: readonly string[]) => statingOn(state, key, users);
  const tooLong = [expect.stringMatching(/^list_too_long Policy/)];

  it('does not prevent changes of other fields', () => {
    expect(replaced(texts(tooMany), { description: 'new' })).toEqual([]);
    expect(stating('ssh', texts(tooMany))).toEqual([]);
  });

  it('may become shorter, also when it is still too long, and keep its length', () => {
    expect(replaced(texts(tooMany - 1))).toEqual([]);
    expect(replaced(texts(tooMany, 'v'))).toEqual([]);
    expect(stating('ssh', texts(tooMany - 1))).toEqual([]);
  });

  it('may not become longer, also when another object has a longer list', () => {
    expect(replaced(texts(tooMany + 1))).toEqual(tooLong);
    expect(stating('ssh', texts(tooMany + 1))).toEqual(tooLong);
    expect(stating('other', texts(tooMany + 1))).toEqual([]);
  });

  it('is no reason to accept a new object with such a list', () => {
    expect(refusals(createOn(state, 'Policy', policy(texts(tooMany), { name: 'new' })))).toEqual(tooLong);
    expect(statingOn(managed, 'new', texts(tooMany))).toEqual(tooLong);
  });

  it('is accepted in a document that adopts its object, or that uses a former key of it', () => {
    const { key: _, ...free } = stored('Policy', 'free', policy(texts(tooMany)));
    const adopt = { 'heddle.dev/adopt': 'id:free' };
    expect(statingOn(managed.with({ put: [free], remove: [] }, 4), 'new', texts(tooMany), adopt)).toEqual([]);
    const renamed = { ...object, owner: 'git', aliases: ['old'] };
    expect(statingOn(managed.with({ put: [renamed], remove: [] }, 4), 'old', texts(tooMany))).toEqual([]);
  });
});

describe('a text of a child that was stored before its limit was introduced', () => {
  const long = 'a'.repeat(5000);
  const resource = (description: string): JsonObject => ({ name: 'files', address: '10.20.0.10', description });
  const network = stored('Network', 'n1', { name: 'office' }, { key: 'office' });
  const child = stored('NetworkResource', 'r1', { network: 'n1', ...resource(long) }, { parent: 'n1' });
  const other = stored('Network', 'n2', { name: 'other' }, { key: 'other' });
  const state = office.with({ put: [network, child, other], remove: [] }, 2);
  const managed = state.with({ put: [network, child, other].map((one) => ({ ...one, owner: 'git' })), remove: [] }, 3);
  const statingOn = (on: typeof state, key: string, description: string, annotations = {}) =>
    refusals(planOn(on, 'git', [document('Network', key, { resources: [resource(description)] }, { annotations })]));
  const tooLong = [expect.stringMatching(/^value_too_long Network.*\/spec\/resources\/0\/description/)];

  it.each([
    ['with keys', state],
    ['without keys', office.with({ put: [network, child].map(({ key: _, ...free }) => free), remove: [] }, 2)],
  ])('is accepted in an export of objects %s, which changes nothing', (_, from) => {
    const documents = exportDocuments(from, { kind: 'Network' }).map(({ kind, metadata, spec }) =>
      document(kind, metadata.name, spec, metadata),
    );
    expect(documents.find(({ metadata }) => metadata.name === 'office')?.spec).toMatchObject({
      resources: [{ name: 'files', description: long }],
    });
    const outcome = planOn(from, 'git', documents);
    expect(refusals(outcome)).toEqual([]);
    expect(linesOf(outcome, from).filter((line) => !line.startsWith('claim '))).toEqual([]);
  });

  it('is accepted in its own document and in that of its parent, also under a former key of the parent', () => {
    const own = document('NetworkResource', 'files', { network: 'office', ...resource(long) });
    expect(refusals(planOn(managed, 'git', [document('Network', 'office'), own]))).toEqual([]);
    expect(statingOn(managed, 'office', long)).toEqual([]);
    const renamed = { ...network, owner: 'git', aliases: ['old'] };
    expect(statingOn(managed.with({ put: [renamed], remove: [] }, 4), 'old', long)).toEqual([]);
  });

  it('is no reason to accept another text, or the text in another network', () => {
    expect(statingOn(managed, 'office', `${long}a`)).toEqual(tooLong);
    expect(statingOn(managed, 'other', long)).toEqual(tooLong);
    expect(statingOn(managed, 'new', long)).toEqual(tooLong);
  });
});

it('entries of a list far beyond its limit are prepared when as many are stored', () => {
  const manyLocations = (count: number, more: JsonObject = {}) =>
    texts(count).map(() => ({ country_code: 'DE', ...more }));
  const check = (locations: readonly JsonObject[]): JsonObject => ({
    ...{ name: 'places', description: '' },
    checks: { geo_location_check: { action: 'allow', locations } },
  });
  const tooMany = maxEntries + 10_500;
  const object = stored('PostureCheck', 'places', check(manyLocations(tooMany)), { key: 'places' });
  const state = office.with({ put: [object], remove: [] }, 2);
  const replaced = (locations: readonly JsonObject[]) =>
    refusals(replaceOn(state, 'PostureCheck', 'places', check(locations)));
  expect(replaced(manyLocations(tooMany - 100, { city_name: null }))).toEqual([]);
  expect(replaced(manyLocations(tooMany + 1, { city_name: null }))).toEqual([expect.stringMatching(/^list_too_long/)]);
});

it('a set with more repeats than its limit is accepted and stored without them', () => {
  const domains = [...texts(3, 'a').map((name) => `${name}.example`), ...Array(maxEntries).fill('a0.example')];
  const servers = { nameservers: [{ ip: '10.0.0.1' }], groups: ['All'], domains };
  const next = applyOn(office, 'git', [document('NameserverGroup', 'dns', servers)]);
  expect(next.findByKey('NameserverGroup', 'dns')?.spec.domains).toEqual(['a0.example', 'a1.example', 'a2.example']);
});

it('a request with more faults than are listed is refused, also when some members may exceed their limits', () => {
  const ranges = texts(maxProblems).map(() => ({ start: 0, end: 1 }));
  const rules = [{ name: 'main', action: 'accept', protocol: 'tcp', port_ranges: ranges }, 5];
  const unlimited = ['/rules/0/port_ranges/0/start'];
  const policy = stored('Policy', 'p', { name: 'p', enabled: true, rules: [] }, { key: 'p' });
  const state = office.with({ put: [policy], remove: [] }, 2);
  const problems = problemsOf(replaceOn(state, 'Policy', 'p', { rules }, { unlimited }));
  expect(problems.length).toBeGreaterThanOrEqual(maxProblems);
  expect(problems.map(({ path }) => path)).not.toContain(unlimited[0]);
});
