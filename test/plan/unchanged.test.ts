import { describe, expect, it } from 'vitest';
import { planTwice } from './planned-twice.ts';
import { allow, applyOn, createOn, document, linesOf, office, planOn, refusals, withModes } from './steps.ts';

describe('documents that are planned twice', () => {
  it('give an empty plan after an apply, for a few documents and changes by other sources', () => {
    planTwice(10);
  });

  it('are refused the first time if they refer to a name that they change', () => {
    const state = applyOn(office, 'a', [document('Group', 'devs', { name: 'Developers' })]);
    const documents = [document('Group', 'devs', { name: 'Devs' }), allow('p', ['Developers'], ['name:Developers'])];
    const outcome = planOn(state, 'a', documents);
    expect(refusals(outcome)).toEqual([
      'reference_renamed Policy/p /spec/rules/0/destinations/0',
      'reference_renamed Policy/p /spec/rules/0/sources/0',
    ]);
    const byKey = [document('Group', 'devs', { name: 'Devs' }), allow('p', ['devs'], ['devs'])];
    expect(linesOf(planOn(state, 'a', byKey), state)).toEqual(['create Policy/p', 'update Group/devs: name']);
    // In the mode `seed` the plan does not change the name, so references to it stay valid.
    const observed = withModes(state, { a: { conflictMode: 'seed' } });
    expect(refusals(planOn(observed, 'a', documents))).toEqual([]);
  });

  it('refer to the object that gets the previous key, not to an object that only has that name', () => {
    const outcome = createOn(office, 'Group', { name: 'old' });
    const state = outcome.ok ? outcome.next : office;
    const documents = [document('Group', 'new', {}, { previousNames: ['old'] }), allow('p', ['old'], ['old'])];
    const applied = applyOn(state, 'a', documents);
    expect(linesOf(planOn(applied, 'a', documents), applied)).toEqual([]);
  });

  it('are refused the first time if a previous name has a document too', () => {
    const state = applyOn(office, 'a', [document('Group', 'new')]);
    const documents = [document('Group', 'new', {}, { previousNames: ['old'] }), document('Group', 'old')];
    expect(refusals(planOn(state, 'a', documents))).toEqual(['rename_still_stated Group/new /metadata/previousNames']);
    // In an account that has neither object, both are created.
    const fresh = applyOn(office, 'a', documents);
    expect(linesOf(planOn(fresh, 'a', documents), fresh)).toEqual([]);
  });
});
