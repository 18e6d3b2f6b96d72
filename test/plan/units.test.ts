import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { defineKind } from '../../src/model/declare/kind.ts';
import { createRegistry } from '../../src/model/declare/registry.ts';
import { boolean, string } from '../../src/model/schema/field.ts';
import { emptySnapshot } from '../../src/model/state/snapshot.ts';
import { group, peersIn } from '../kinds/objects.ts';
import {
  applyOn,
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

const route = (spec: JsonObject) => document('Route', 'r', { network_id: 'r', peer: 'p1', groups: ['All'], ...spec });
const rule = (name: string, more: JsonObject = {}) => ({
  name,
  action: 'accept',
  protocol: 'all',
  sources: ['All'],
  destinations: ['All'],
  ...more,
});
const policy = (spec: JsonObject) => document('Policy', 'p', { rules: [rule('main')], ...spec });

/** Returns the changes that the second document makes after the first was applied. */
function afterwards(first: ReturnType<typeof document>, second: ReturnType<typeof document>): readonly string[] {
  const state = applyOn(office, 'a', [first]);
  return linesOf(planOn(state, 'a', [second]), state);
}

describe('the normalization of documents', () => {
  it.each([
    ['Group', document('Group', 'devs')],
    ['Policy', policy({})],
    ['Route to a network', route({ network: '10.0.0.0/8' })],
    ['Route to domains', route({ domains: ['example.com'] })],
    ['DNSZone', document('DNSZone', 'lan', { domain: 'lan.example.com', distribution_groups: ['All'] })],
    [
      'DNSRecord',
      document('DNSZone', 'lan', {
        domain: 'lan.example.com',
        distribution_groups: ['All'],
        records: [{ name: 'lan.example.com', type: 'A', content: '10.0.0.1' }],
      }),
    ],
    ['Account', document('Account', 'account')],
  ])('E28 plans nothing after applying a %s without its optional fields', (_, stated) => {
    expect(afterwards(stated, stated)).toEqual([]);
  });

  it('E30 plans nothing when a set is reordered', () => {
    const groups = [document('Group', 'a1'), document('Group', 'a2')];
    const state = applyOn(office, 'a', [...groups, route({ network: '10.0.0.0/8', groups: ['a1', 'a2'] })]);
    expect(
      linesOf(planOn(state, 'a', [route({ network: '10.0.0.0/8', groups: ['a2', 'a1'] }), ...groups]), state),
    ).toEqual([]);
    expect(
      afterwards(
        route({ domains: ['b.example', 'a.example'] }),
        route({ domains: ['a.example', 'b.example', 'a.example'] }),
      ),
    ).toEqual([]);
  });

  it('E31 treats an empty list like an absent one, and refuses null', () => {
    expect(afterwards(policy({ source_posture_checks: [] }), policy({}))).toEqual(['restate Policy/p']);
    expect(refusals(planOn(office, 'a', [policy({ source_posture_checks: null })]))).toEqual([
      'type_wrong Policy/p /spec/source_posture_checks',
    ]);
  });

  it('E34 writes IPv6 addresses in one canonical form', () => {
    expect(afterwards(route({ network: '2001:DB8:0:0::/32' }), route({ network: '2001:db8::/32' }))).toEqual([]);
  });

  it('E35 writes domains in one canonical form', () => {
    expect(afterwards(route({ domains: ['Example.COM.'] }), route({ domains: ['example.com'] }))).toEqual([]);
  });

  it('E39 changes no stored value when a newer program adds a default', () => {
    const declare = (more: object) =>
      createRegistry([
        defineKind({
          name: 'Thing',
          doc: 'A thing.',
          module: 'm',
          document: { allowed: true },
          spec: { name: string({ doc: 'Name.', required: true }), ...more },
          example: {},
        }),
      ]);
    const old = applyOn(emptySnapshot(declare({}), 'acc'), 'a', [document('Thing', 't')]);
    const upgraded = emptySnapshot(
      declare({ loud: boolean({ doc: 'Loud.', default: true }) }),
      'acc',
      old.revision,
    ).with({ put: [...old.objects()], remove: [] });
    expect(linesOf(planOn(upgraded, 'a', [document('Thing', 't')]), upgraded)).toEqual([]);
    expect(linesOf(planOn(upgraded, 'a', [document('Thing', 't', { loud: false })]), upgraded)).toEqual([
      'update Thing/t: loud',
    ]);
  });

  it('E41 makes a stated value managed, even if it equals the default, but not an unstated one', () => {
    const silent = applyOn(office, 'a', [policy({})]);
    const said = applyOn(office, 'a', [policy({ enabled: true })]);
    const change = { enabled: false };
    expect(refusals(replaceOn(silent, 'Policy', objectOf(silent, 'Policy', 'p').id, change))).toEqual([]);
    expect(refusals(replaceOn(said, 'Policy', objectOf(said, 'Policy', 'p').id, change))).toEqual([
      'managed_field Policy/p /enabled',
    ]);
  });

  it('E42 treats 1.0 as 1', () => {
    expect(
      afterwards(
        route({ network: '10.0.0.0/8', metric: JSON.parse('1.0') }),
        route({ network: '10.0.0.0/8', metric: 1 }),
      ),
    ).toEqual([]);
  });

  it('E48 identifies rules by name: a renamed rule is deleted and created, and order is ignored', () => {
    expect(
      afterwards(policy({ rules: [rule('web'), rule('db')] }), policy({ rules: [rule('db'), rule('web')] })),
    ).toEqual([]);
    expect(
      afterwards(policy({ rules: [rule('web'), rule('db')] }), policy({ rules: [rule('www'), rule('db')] })),
    ).toEqual(['update Policy/p: rules[web] rules[www]']);
  });
});

describe('a unit that is no longer stated', () => {
  it('E43 returns to its default, is marked as reset, and its risk is described', () => {
    const state = applyOn(office, 'a', [policy({ enabled: false })]);
    const { plan, next } = planned(planOn(state, 'a', [policy({})]));
    expect(plan.changes.map(({ units, resets, risks }) => ({ units, resets, risks }))).toEqual([
      {
        units: [{ path: 'enabled', before: false, after: true }],
        resets: ['enabled'],
        risks: ['the policy p was disabled and becomes enabled'],
      },
    ]);
    expect(objectOf(next, 'Policy', 'p').spec['enabled']).toBe(true);
  });

  it('E43 is removed from a set if the source had stated it; other elements are kept', () => {
    const state = applyOn(office, 'a', [document('Group', 'devs', { peers: ['p1', 'p2'] })]);
    const { id } = objectOf(state, 'Group', 'devs');
    const joined = planned(replaceOn(state, 'Group', id, { peers: ['p1', 'p2', 'p3'] })).next;
    const next = applyOn(joined, 'a', [document('Group', 'devs', { peers: ['p2'] })]);
    expect(peersIn(next.get(id))).toEqual({ p2: ['source'], p3: ['api'] });
  });

  it('E43 returns to the key if it is the name of a group', () => {
    const state = applyOn(office, 'a', [document('Group', 'devs', { name: 'Developers' })]);
    expect(linesOf(planOn(state, 'a', [document('Group', 'devs')]), state)).toEqual(['update Group/devs: name']);
  });

  it('E44 is kept while another source states the same value, and reset after the last one', () => {
    const both = applyOn(applyOn(office, 'a', [policy({ enabled: false })]), 'b', [policy({ enabled: false })]);
    const one = planOn(both, 'a', [policy({})]);
    expect(linesOf(one, both)).toEqual(['restate Policy/p']);
    const state = planned(one).next;
    expect(linesOf(planOn(state, 'b', [policy({})]), state)).toEqual(['update Policy/p: enabled']);
  });

  it('E44 is reset when the owner withdraws, and another source becomes the owner of the object', () => {
    const both = applyOn(applyOn(office, 'a', [policy({ description: 'mine' })]), 'b', [policy({ enabled: false })]);
    const left = planOn(both, 'a', []);
    expect(linesOf(left, both)).toEqual(['update Policy/p: description']);
    const { owner, spec, declared } = objectOf(planned(left).next, 'Policy', 'p');
    expect({
      owner,
      enabled: spec['enabled'],
      description: spec['description'],
      by: declared.map(({ source }) => source),
    }).toEqual({ owner: 'b', enabled: false, description: '', by: ['b'] });
  });
});

describe('sources', () => {
  it('E45 conflict when they contradict each other, and the plan names the other position', () => {
    const state = applyOn(office, 'a', [
      document('Policy', 'p', { rules: [rule('main')], enabled: false }, { file: 'a.yaml', line: 12 }),
    ]);
    const outcome = planOn(state, 'b', [policy({ enabled: true })]);
    expect(refusals(outcome)).toEqual(['unit_conflict Policy/p /spec/enabled']);
    expect(problemsOf(outcome)[0]?.message).toContain('source a at a.yaml:12');
    expect(linesOf(planOn(state, 'a', [policy({ enabled: false })]), state)).toEqual([]);
  });

  it('E45 do not conflict over different elements, rules or fields', () => {
    const state = applyOn(office, 'a', [policy({ enabled: false }), document('Group', 'devs', { peers: ['p1'] })]);
    const outcome = planOn(state, 'b', [
      policy({ rules: [rule('more')], description: 'both' }),
      document('Group', 'devs', { peers: ['p2'] }),
    ]);
    expect(linesOf(outcome, state)).toEqual([
      'update Group/devs: peers[p2]',
      'update Policy/p: description rules[more]',
    ]);
    const { next } = planned(outcome);
    expect(peersIn(objectOf(next, 'Group', 'devs'))).toEqual({ p1: ['source'], p2: ['source'] });
    const alone = applyOn(next, 'b', []);
    expect(peersIn(objectOf(alone, 'Group', 'devs'))).toEqual({ p1: ['source'] });
    expect((objectOf(alone, 'Policy', 'p').spec['rules'] as readonly JsonObject[]).map(({ name }) => name)).toEqual([
      'main',
    ]);
  });

  it('E49 claim values set by the API, as an update or, if equal, as a claim', () => {
    const first = applyOn(office, 'a', [policy({})]);
    const { id } = objectOf(first, 'Policy', 'p');
    const state = planned(replaceOn(first, 'Policy', id, { description: 'by hand' })).next;
    expect(linesOf(planOn(state, 'a', [policy({})]), state)).toEqual([]);
    expect(linesOf(planOn(state, 'a', [policy({ description: 'by hand' })]), state)).toEqual(['restate Policy/p']);
    expect(linesOf(planOn(state, 'a', [policy({ description: 'by file' })]), state)).toEqual([
      'update Policy/p: description',
    ]);
  });

  it('E51 release objects that they adopted and did not create', () => {
    const state = office.with({ put: [group('g1', ['p1'])], remove: [] });
    const adopted = applyOn(state, 'a', [document('Group', 'devs', { name: 'g1' })]);
    expect(adopted.get('g1')).toMatchObject({ key: 'devs', declared: [{ source: 'a' }] });
    const outcome = planOn(adopted, 'a', []);
    expect(linesOf(outcome, adopted)).toEqual(['release Group/g1']);
    const left = planned(outcome).next.get('g1');
    expect([left?.key, left?.owner, left?.declared, left?.spec]).toEqual([
      undefined,
      undefined,
      [],
      state.get('g1')?.spec,
    ]);
  });

  it('do not conflict over a record that only one of them changes', () => {
    const zone = document('DNSZone', 'lan', { domain: 'lan.example.com', distribution_groups: ['All'] });
    const record = (content: string) =>
      document('DNSRecord', 'www', { zone: 'lan', name: 'www.lan.example.com', type: 'A', content });
    const state = applyOn(applyOn(office, 'a', [zone, record('10.0.0.1')]), 'b', [record('10.0.0.1')]);
    expect(linesOf(planOn(state, 'a', [zone, record('10.0.0.2')]), state)).toEqual([
      'create DNSRecord/lan/www.lan.example.com/A/10.0.0.2',
      'release DNSRecord/lan/www.lan.example.com/A/10.0.0.1',
    ]);
  });
});
