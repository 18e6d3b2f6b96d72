import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import type { Scope } from '../../src/model/sources/settings.ts';
import { group } from '../kinds/objects.ts';
import {
  allow,
  applyOn,
  document,
  linesOf,
  objectOf,
  office,
  planned,
  planOn,
  problemsOf,
  refusals,
  withModes,
} from './steps.ts';

const scoped = (scope: Scope, state = office) => withModes(state, { a: { scope } });
const zone = (name: string, records: readonly JsonObject[] = []) =>
  document('DNSZone', name, { domain: 'lan.example.com', distribution_groups: ['All'], records });
const named = (id: string, name: string) => group(id, [], { name, spec: { name } });
const www = { name: 'www.lan.example.com', type: 'A', content: '10.0.0.1', ttl: 60 };

describe('the scope of a source', () => {
  it('limits it to its kinds and their children', () => {
    const state = scoped({ kinds: ['DNSZone', 'Group'] });
    const fine = [document('Group', 'g'), zone('lan', [www])];
    expect(refusals(planOn(state, 'a', fine))).toEqual([]);
    const outcome = planOn(state, 'a', [...fine, allow('p', ['g'], ['g'])]);
    expect(problemsOf(outcome)).toMatchObject([
      { code: 'scope_exceeded', kind: 'Policy', key: 'p', path: '/kind', file: 'policy.yaml', line: 1 },
    ]);
    expect(problemsOf(outcome)[0]?.message).toContain('`DNSZone`, `Group` and no Policy');
  });

  it('limits it to keys with its prefixes, including those of children', () => {
    const state = scoped({ keyPrefixes: ['data-', 'etl-'] });
    const fine = [document('Group', 'data-devs'), zone('etl-lan', [www])];
    expect(refusals(planOn(state, 'a', fine))).toEqual([]);
    const record = document('DNSRecord', 'data-www', { zone: 'lan', ...www });
    const theirs = applyOn(state, 'b', [zone('lan')]);
    const outcome = planOn(theirs, 'a', [...fine.slice(0, 1), document('Group', 'devs'), record]);
    expect(refusals(outcome)).toEqual([
      'scope_exceeded DNSRecord/lan/www.lan.example.com/A/10.0.0.1 /spec/zone',
      'scope_exceeded Group/devs /metadata/name',
    ]);
    expect(problemsOf(outcome)[1]?.message).toContain('keys begin with `data-`, `etl-`');
  });

  it('limits references to groups outside it, whether they are named by key, id or name', () => {
    const shared = [document('Group', 'shared-web'), document('Group', 'secret')];
    const base = applyOn(office, 'b', shared).with({ put: [group('g7', [], { name: 'Ops' })], remove: [] });
    const state = scoped({ keyPrefixes: ['data-'], groups: ['shared-*', 'All', 'Ops'] }, base);
    const own = document('Group', 'data-devs');
    const rule = (...groups: readonly string[]) => [own, allow('data-p', ['data-devs'], groups)];
    expect(refusals(planOn(state, 'a', rule('shared-web', 'All', 'Ops', 'id:g7')))).toEqual([]);
    const { id } = objectOf(state, 'Group', 'secret');
    for (const text of ['secret', `id:${id}`, 'name:secret']) {
      const outcome = planOn(state, 'a', rule(text));
      expect(refusals(outcome)).toEqual(['scope_exceeded Policy/data-p /spec/rules/0/destinations/0']);
      expect(problemsOf(outcome)[0]?.message).toContain('`shared-*`, `All`, `Ops`, and not to `secret`');
    }
  });

  it('allows it to change the groups in its list, together with other sources that state them', () => {
    const base = applyOn(office, 'b', [document('Group', 'shared', { peers: ['p1'] }), document('Group', 'other')]);
    const state = scoped({ keyPrefixes: ['data-'], groups: ['shared'] }, base);
    const joins = planOn(state, 'a', [document('Group', 'shared', { peers: ['p2'] })]);
    expect(linesOf(joins, state)).toEqual(['update Group/shared: peers[p2]']);
    expect(refusals(planOn(state, 'a', [document('Group', 'other')]))).toEqual([
      'scope_overlap Group/other',
      'scope_exceeded Group/other /metadata/name',
    ]);
    const only = scoped({ groups: ['shared'] }, base);
    expect(refusals(planOn(only, 'a', [document('Group', 'mine')]))).toEqual([
      'scope_exceeded Group/mine /metadata/name',
    ]);
  });

  it('refuses objects that another source states, and names both positions', () => {
    const stated = [document('Group', 'data-devs', {}, { file: 'b.yaml', line: 7 })];
    const base = applyOn(office, 'b', stated);
    for (const state of [
      withModes(base, { a: { scope: { keyPrefixes: ['data-'] } } }),
      withModes(base, { b: { scope: { kinds: ['Group'] } } }),
    ]) {
      const outcome = planOn(state, 'a', [document('Group', 'data-devs', {}, { file: 'a.yaml', line: 3 })]);
      expect(problemsOf(outcome)).toMatchObject([{ code: 'scope_overlap', file: 'a.yaml', line: 3, source: 'b' }]);
      expect(problemsOf(outcome)[0]?.message).toMatch(/b\.yaml:7.*a\.yaml:3/);
    }
    // Without scopes, two sources may state the same object.
    expect(refusals(planOn(base, 'a', [document('Group', 'data-devs')]))).toEqual([]);
  });

  it('prevents it from adopting objects outside it by name, id or previous key', () => {
    const base = office.with({
      put: [named('g7', 'admins'), named('g8', 'data-ops')],
      remove: [],
    });
    const state = scoped({ keyPrefixes: ['data-'] }, base);
    const annotations = { 'heddle.dev/adopt': 'id:g7' };
    for (const stated of [
      document('Group', 'data-admins', { name: 'admins' }),
      document('Group', 'data-admins', { name: 'admins' }, { annotations }),
    ])
      expect(refusals(planOn(state, 'a', [stated]))).toEqual(['scope_exceeded Group/data-admins /metadata']);
    expect(linesOf(planOn(state, 'a', [document('Group', 'data-ops')]), state)).toEqual(['claim Group/data-ops']);
    const left = applyOn(applyOn(state, 'b', [document('Group', 'web')]), 'b', [], {
      claimed: [{ source: 'c', keys: ['Group/web'], units: [] }],
    });
    const renamed = document('Group', 'data-web', {}, { previousNames: ['web'] });
    expect(refusals(planOn(left, 'a', [renamed]))).toEqual(['scope_exceeded Group/data-web /metadata']);
  });

  it('allows it to release an object that is outside it after a change of the scope', () => {
    const state = scoped(
      { kinds: ['Group'] },
      applyOn(office, 'a', [document('Group', 'g'), allow('p', ['g'], ['g'])]),
    );
    expect(refusals(planOn(state, 'a', [document('Group', 'g'), allow('p', ['g'], ['g'])]))).toEqual([
      'scope_exceeded Policy/p /kind',
    ]);
    expect(linesOf(planOn(state, 'a', [document('Group', 'g')]), state)).toEqual(['release Policy/p']);
  });

  it('is checked together with other problems, and reported at the position of an inline child', () => {
    const state = scoped({ keyPrefixes: ['data-'] });
    const outcome = planOn(state, 'a', [zone('lan', [www]), document('Group', 'data-x', { nmae: 'x' })]);
    expect(refusals(outcome)).toEqual([
      'scope_exceeded DNSRecord/lan/www.lan.example.com/A/10.0.0.1 /spec/records/0',
      'scope_exceeded DNSZone/lan /metadata/name',
      'field_unknown Group/data-x /spec/nmae',
    ]);
  });
});

describe('a narrowed scope', () => {
  const wide = applyOn(office, 'a', [
    document('Group', 'data-devs'),
    document('Group', 'web'),
    allow('web-p', ['web'], ['web']),
  ]);

  it('deletes nothing outside it: objects that are no longer stated are released unchanged', () => {
    const state = scoped({ kinds: ['Group'], keyPrefixes: ['data-'] }, wide);
    const outcome = planOn(state, 'a', [document('Group', 'data-devs')]);
    expect(linesOf(outcome, state)).toEqual(['release Group/web', 'release Policy/web-p']);
    const { plan, next } = planned(outcome);
    expect(plan.warnings.map(({ code, kind, key }) => `${code} ${kind}/${key}`)).toEqual([
      'scope_exceeded Group/web',
      'scope_exceeded Policy/web-p',
    ]);
    const { owner, declared, spec } = objectOf(next, 'Policy', 'web-p');
    expect([owner, declared, spec]).toEqual([undefined, [], objectOf(wide, 'Policy', 'web-p').spec]);
  });

  it('still deletes objects inside it', () => {
    const state = scoped({ keyPrefixes: ['data-'] }, wide);
    expect(linesOf(planOn(state, 'a', []), state)).toContain('delete Group/data-devs');
  });
});
