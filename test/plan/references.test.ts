import { describe, expect, it } from 'vitest';
import { postponedIn } from '../../src/plan/ownership/claims-of-others.ts';
import { group, peersIn, stored } from '../kinds/objects.ts';
import {
  allow,
  applyOn,
  createOn,
  document,
  linesOf,
  objectOf,
  office,
  planned,
  planOn,
  problemsOf,
  refusals,
  replaceOn,
} from './steps.ts';

const zone = (spec = {}) =>
  document('DNSZone', 'lan', { domain: 'lan.example.com', distribution_groups: ['All'], ...spec });
const www = { name: 'www.lan.example.com', type: 'A', content: '10.0.0.1' };

describe('the validation of documents', () => {
  it('E5 reports a child that is stated inline and standalone, with both positions', () => {
    const outcome = planOn(office, 'a', [
      document(
        'DNSZone',
        'lan',
        { domain: 'lan.example.com', distribution_groups: ['All'], records: [www] },
        { file: 'zone.yaml', line: 3 },
      ),
      document('DNSRecord', 'www', { zone: 'lan', ...www }, { file: 'record.yaml', line: 7 }),
    ]);
    expect(refusals(outcome)).toEqual([
      'object_duplicate DNSRecord/lan/www.lan.example.com/A/10.0.0.1 /spec/records/0',
    ]);
    const [problem] = problemsOf(outcome);
    expect(`${problem?.file}:${problem?.line} ${problem?.message}`).toMatch(
      /(zone.yaml:3 .*record.yaml:7|record.yaml:7 .*zone.yaml:3)/,
    );
  });

  it('E5 reports a child that is stated twice inline', () => {
    const outcome = planOn(office, 'a', [zone({ records: [www, { ...www, ttl: 60 }] })]);
    expect(refusals(outcome)).toEqual([
      'object_duplicate DNSRecord/lan/www.lan.example.com/A/10.0.0.1 /spec/records/1',
    ]);
  });

  it('E12 suggests the nearest field for an unknown one', () => {
    const outcome = planOn(office, 'a', [document('Group', 'devs', { peesr: ['p1'] })]);
    expect(refusals(outcome)).toEqual(['field_unknown Group/devs /spec/peesr']);
    expect(problemsOf(outcome)[0]?.message).toContain('did you mean `peers`?');
  });

  it('E13 suggests the nearest kind for an unknown one, and explains why clusters cannot be documents', () => {
    const outcome = planOn(office, 'a', [document('Groop', 'devs'), document('ProxyCluster', 'c9', {})]);
    expect(refusals(outcome)).toEqual(['kind_unknown Groop/devs /kind', 'kind_not_declarable ProxyCluster/c9 /kind']);
    expect(problemsOf(outcome)[0]?.message).toContain('did you mean `Group`?');
    expect(problemsOf(outcome)[1]?.message).toContain('clusters are created only by the registration of their proxies');
  });

  it('E32 refuses ports given as numbers', () => {
    const outcome = planOn(office, 'a', [
      document('Policy', 'web', {
        rules: [{ name: 'r', action: 'accept', protocol: 'tcp', ports: [80], sources: ['All'], destinations: ['All'] }],
      }),
    ]);
    expect(refusals(outcome)).toEqual(['type_wrong Policy/web /spec/rules/0/ports/0']);
  });

  it('E33 refuses a range with host bits and suggests the masked range', () => {
    const outcome = planOn(office, 'a', [
      document('Route', 'r', { network_id: 'r', network: '10.0.0.1/8', peer: 'p1', groups: ['All'] }),
    ]);
    expect(refusals(outcome)).toEqual(['cidr_invalid Route/r /spec/network']);
    expect(problemsOf(outcome)[0]?.message).toContain('10.0.0.0/8');
  });

  it('reports all problems at once, sorted by position', () => {
    const outcome = planOn(office, 'a', [
      allow('p', ['nobody'], ['All'], {}),
      document('Group', 'devs', { peers: 'p1' }, { file: 'b.yaml', line: 4 }),
      document('Group', 'ops', { nmae: 'x' }, { file: 'b.yaml', line: 2 }),
    ]);
    expect(refusals(outcome)).toEqual([
      'field_unknown Group/ops /spec/nmae',
      'type_wrong Group/devs /spec/peers',
      'reference_unknown Policy/p /spec/rules/0/sources/0',
    ]);
  });

  it('does not report a reference to an invalid document as unknown', () => {
    const outcome = planOn(office, 'a', [document('Group', 'devs', { nmae: 'x' }), allow('p', ['devs'], ['All'])]);
    expect(refusals(outcome)).toEqual(['field_unknown Group/devs /spec/nmae']);
  });

  it('refuses another key for the account document', () => {
    expect(refusals(planOn(office, 'a', [document('Account', 'mine', {})]))).toEqual(['key_fixed Account/mine /spec']);
  });
});

describe('the resolution of references', () => {
  it('E17 distinguishes names that differ in case only', () => {
    const outcome = planOn(office, 'a', [
      document('Group', 'one', { name: 'devs' }),
      document('Group', 'two', { name: 'Devs' }),
    ]);
    expect(linesOf(outcome, office)).toEqual(['create Group/one', 'create Group/two']);
  });

  it('E18 resolves a reference to an object that comes later in the same stream', () => {
    const { plan, next } = planned(
      planOn(office, 'a', [allow('p', ['devs'], ['ops']), document('Group', 'ops'), document('Group', 'devs')]),
    );
    expect(plan.changes.map(({ after }) => after?.key)).toEqual(['devs', 'ops', 'p']);
    const [rule] = objectOf(next, 'Policy', 'p').spec['rules'] as [{ sources: string[] }];
    expect(rule.sources).toEqual([objectOf(next, 'Group', 'devs').id]);
  });

  it('E19 resolves a reference to an object of another source', () => {
    const state = applyOn(office, 'a', [document('Group', 'devs')]);
    expect(linesOf(planOn(state, 'b', [allow('p', ['devs'], ['All'])]), state)).toEqual(['create Policy/p']);
  });

  it('E20 refuses a reference to an object that the same plan deletes', () => {
    const state = applyOn(office, 'a', [document('Group', 'devs'), allow('p', ['devs'], ['All'])]);
    const outcome = planOn(state, 'a', [allow('p', ['devs'], ['All'])]);
    expect(refusals(outcome)).toEqual(['reference_deleted Policy/p /spec/rules/0/sources/0']);
  });

  it('E21 refuses `name:` with no match or two matches, and accepts exactly one', () => {
    const issued = (id: string) => group(id, [], { name: 'devs', spec: { name: 'devs' }, derived: { issued: 'jwt' } });
    const state = office.with({ put: [issued('g1'), issued('g2'), group('solo')], remove: [] });
    const outcome = planOn(state, 'a', [allow('p', ['name:devs', 'name:nobody', 'name:solo'], ['All'])]);
    expect(refusals(outcome)).toEqual([
      'reference_ambiguous Policy/p /spec/rules/0/sources/0',
      'reference_unknown Policy/p /spec/rules/0/sources/1',
    ]);
    expect(problemsOf(outcome)[0]?.message).toContain('`id:g1`, `id:g2`');
    expect(refusals(planOn(state, 'a', [allow('p', ['devs'], ['All'])]))).toEqual([
      'reference_ambiguous Policy/p /spec/rules/0/sources/0',
    ]);
  });

  it('E22 finds the group of all peers by its name', () => {
    const { next } = planned(planOn(office, 'a', [allow('p', ['All'], ['name:All'])]));
    const [rule] = objectOf(next, 'Policy', 'p').spec['rules'] as [{ sources: string[]; destinations: string[] }];
    expect([rule.sources, rule.destinations]).toEqual([['All'], ['All']]);
  });

  it('E23 refuses the id and the key of an object of another kind', () => {
    const outcome = planOn(office, 'a', [allow('p', ['id:p1', 'p1'], ['All'])]);
    expect(refusals(outcome)).toEqual([
      'reference_unknown Policy/p /spec/rules/0/sources/0',
      'reference_unknown Policy/p /spec/rules/0/sources/1',
    ]);
  });

  it('E24 refuses the computed side of a relation as an unknown field', () => {
    expect(refusals(planOn(office, 'a', [document('Group', 'devs', { resources: [] })]))).toEqual([
      'field_unknown Group/devs /spec/resources',
    ]);
  });

  it('E25 removes repeated references', () => {
    const { next } = planned(
      planOn(office, 'a', [
        document('Group', 'devs', { peers: ['p1', 'p1', 'id:p1'] }),
        allow('p', ['devs', 'devs'], ['devs']),
      ]),
    );
    const [rule] = objectOf(next, 'Policy', 'p').spec['rules'] as [{ sources: string[] }];
    expect(rule.sources).toHaveLength(1);
    expect(peersIn(objectOf(next, 'Group', 'devs'))).toEqual({ p1: ['source'] });
  });

  it('E26 keeps the object when the API changes a field that is not stated', () => {
    const stated = [document('Group', 'devs', { peers: ['p1'] }), allow('p', ['devs'], ['All'])];
    const state = applyOn(office, 'a', stated);
    const { id } = objectOf(state, 'Policy', 'p');
    const renamed = planned(replaceOn(state, 'Policy', id, { description: 'set by hand' })).next;
    expect(linesOf(planOn(renamed, 'a', stated), renamed)).toEqual([]);
    expect(objectOf(renamed, 'Policy', 'p').id).toBe(id);
  });

  it('E27 assigns a new id when a deleted key is created again', () => {
    const first = applyOn(office, 'a', [document('Group', 'devs'), document('Group', 'ops')]);
    const without = applyOn(first, 'a', [document('Group', 'ops')]);
    const again = planOn(without, 'a', [document('Group', 'devs'), document('Group', 'ops')]);
    expect(linesOf(again, without)).toEqual(['create Group/devs']);
    expect(objectOf(planned(again).next, 'Group', 'devs').id).not.toBe(objectOf(first, 'Group', 'devs').id);
  });

  it('leaves out peers that are not enrolled yet, with a warning', () => {
    const outcome = planOn(office, 'a', [document('Group', 'devs', { peers: ['p1', 'laptop'] })]);
    expect(planned(outcome).plan.warnings.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'reference_pending /spec/peers/1',
    ]);
    expect(peersIn(objectOf(planned(outcome).next, 'Group', 'devs'))).toEqual({ p1: ['source'] });
  });

  it('names every postponed object by its complete key, however long', () => {
    const keys = ['a', 'b'].map((end) => `${'g'.repeat(254)}${end}`);
    const waiting = keys.map((key) => document('Group', key, { peers: ['laptop'] }));
    const { plan } = planned(planOn(office, 'a', waiting));
    expect(postponedIn(plan).pending).toEqual(keys.map((key) => `Group/${key}`));
  });

  it('reports that a stated peer is not enrolled yet, and does not suggest the name that was written', () => {
    const said = (...documents: readonly ReturnType<typeof document>[]) =>
      planned(planOn(office, 'a', documents)).plan.warnings.map(({ kind, message }) => `${kind}: ${message}`);
    const devs = document('Group', 'devs', { peers: ['laptop'] });
    expect(said(document('Peer', 'laptop', { ssh_enabled: true }), devs)).toEqual([
      'Group: Peer `laptop` does not exist yet, and the document that states it does not create it; it is applied once that object exists',
      'Peer: there is no Peer `laptop` yet, and documents do not create one; the document is applied once it exists',
    ]);
    expect(said(document('Peer', 'laptops', { ssh_enabled: true }), devs)[0]).toContain(
      'unknown Peer `laptop`; did you mean `laptops`?',
    );
  });

  it('creates a record in a zone made by the API', () => {
    const state = planned(
      createOn(office, 'DNSZone', {
        name: 'lan',
        domain: 'lan.example.com',
        enable_search_domain: false,
        distribution_groups: ['All'],
      }),
    ).next;
    const outcome = planOn(state, 'a', [document('DNSRecord', 'www', { zone: 'lan', ...www })]);
    expect(linesOf(outcome, state)).toEqual(['create DNSRecord/lan/www.lan.example.com/A/10.0.0.1']);
    const { next } = planned(outcome);
    expect(next.childrenOf(objectOf(next, 'DNSZone', 'lan').id, 'DNSRecord')).toHaveLength(1);
  });

  it('reports an unknown parent at the field that names it', () => {
    expect(refusals(planOn(office, 'a', [document('DNSRecord', 'www', { zone: 'nowhere', ...www })]))).toEqual([
      'reference_unknown DNSRecord/nowhere/www.lan.example.com/A/10.0.0.1 /spec/zone',
    ]);
  });

  it('accepts ids of objects that no document made', () => {
    const state = office.with({ put: [stored('Group', 'g-api', { name: 'By hand' })], remove: [] });
    expect(linesOf(planOn(state, 'a', [allow('p', ['id:g-api'], ['By hand'])]), state)).toEqual(['create Policy/p']);
  });
});
