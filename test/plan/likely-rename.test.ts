import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { allow, applyOn, document, linesOf, objectOf, office, planned, planOn } from './steps.ts';

const route = (key: string, spec: JsonObject = {}) =>
  document('Route', key, { network_id: 'office', network: '10.0.0.0/8', peer: 'p1', groups: ['All'], ...spec });
const group = (key: string, spec: JsonObject = {}) => document('Group', key, spec);

/** Returns the `rename_likely` warnings of a plan, with object and message. */
function suggestions(outcome: ReturnType<typeof planOn>): readonly string[] {
  const { warnings } = planned(outcome).plan;
  return warnings
    .filter(({ code }) => code === 'rename_likely')
    .map(({ kind, key, message }) => `${kind} ${key}: ${message}`);
}

describe('a plan that deletes an object and creates one of the same content', () => {
  it('suggests previousNames at the new document', () => {
    const state = applyOn(office, 'a', [route('vault')]);
    const outcome = planOn(state, 'a', [route('safe')]);
    expect(linesOf(outcome, state).map((line) => line.split(':')[0])).toEqual([
      'create Route/safe',
      'delete Route/vault',
    ]);
    expect(suggestions(outcome)).toEqual([
      'Route safe: Route `safe` is created and `vault`, which stated the same, is deleted; if it is the same object under another key, ' +
        'write `previousNames: [vault]` into the metadata of `safe`, and it keeps its id and what refers to it',
    ]);
    expect(planned(outcome).plan.warnings[0]).toMatchObject({ path: '/metadata/name', file: 'route.yaml' });
  });

  it('suggests nothing when the suggestion was followed', () => {
    const state = applyOn(office, 'a', [route('vault')]);
    const renamed = document('Route', 'safe', { ...route('safe').spec }, { previousNames: ['vault'] });
    expect(suggestions(planOn(state, 'a', [renamed]))).toEqual([]);
  });

  it('suggests nothing when the contents differ, or without both a deletion and a creation', () => {
    const state = applyOn(office, 'a', [route('vault')]);
    expect(suggestions(planOn(state, 'a', [route('safe', { network: '10.1.0.0/16' })]))).toEqual([]);
    expect(suggestions(planOn(state, 'a', [route('vault'), group('safe')]))).toEqual([]);
    expect(suggestions(planOn(state, 'a', [group('safe')]))).toEqual([]);
  });

  it('pairs several objects of equal content by their display names, and does not guess without them', () => {
    const state = applyOn(office, 'a', [group('a', { name: 'Ana' }), group('b', { name: 'Bo' }), group('c')]);
    const outcome = planOn(state, 'a', [group('x', { name: 'Bo' }), group('y', { name: 'Ana' }), group('z')]);
    expect(suggestions(outcome).map((line) => line.split(',')[0])).toEqual([
      'Group x: Group `x` is created and `b`',
      'Group y: Group `y` is created and `a`',
    ]);
  });

  it('has the same digest with the suggestion', () => {
    const state = applyOn(office, 'a', [group('vault'), allow('p', ['vault'], ['All'])]);
    const outcome = planned(planOn(state, 'a', [group('safe'), allow('p', ['safe'], ['All'])]));
    expect(outcome.plan.warnings).toHaveLength(1);
    const again = planned(planOn(state, 'a', [group('safe'), allow('p', ['safe'], ['All'])], { ids: 'other' }));
    expect(again.plan.digest).toBe(outcome.plan.digest);
  });
});

describe('a resource with a new name and the same address', () => {
  const network = (...names: readonly string[]) =>
    document('Network', 'n', {
      resources: names.map((name, at) => ({ name, address: `10.${at}.0.0/16`, groups: [] })),
    });

  it('is renamed and keeps its id', () => {
    const state = applyOn(office, 'a', [network('db', 'web')]);
    const { id } = objectOf(state, 'NetworkResource', 'n/db');
    const outcome = planOn(state, 'a', [network('database', 'web')]);
    expect(linesOf(outcome, state)).toEqual(['update NetworkResource/n/database: name']);
    expect(objectOf(planned(outcome).next, 'NetworkResource', 'n/database').id).toBe(id);
  });
});
