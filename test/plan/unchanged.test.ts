import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import type { Document } from '../../src/model/document.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { allow, applyOn, createOn, deleteOn, document, linesOf, office, planOn, refusals, withModes } from './steps.ts';

type Pick = fc.GeneratorValue;

const keys = ['k1', 'k2', 'k3', 'k4'];
const maybe = (pick: Pick): boolean => pick(fc.boolean);
const oneOf = <const Value>(pick: Pick, ...values: readonly Value[]): Value => pick(fc.constantFrom, ...values);

/** Generates a group that sometimes states annotations, a name, peers or previous names. */
function someGroup(pick: Pick, state: Snapshot, key: string): Document {
  const annotations: Record<string, string> = {};
  const spec: Record<string, JsonObject[string]> = {};
  const more: { previousNames?: readonly string[] } = {};
  switch (pick(fc.nat, { max: 9 })) {
    case 0:
      annotations['heddle.dev/on-release'] = oneOf(pick, 'prune', 'release');
      break;
    case 1:
      annotations['heddle.dev/prevent-delete'] = 'true';
      break;
    case 2:
      annotations['heddle.dev/membership'] = 'exclusive';
      break;
    case 3:
      annotations['heddle.dev/adopt'] = `id:${oneOf(pick, ...state.ofKind('Group')).id}`;
      break;
    case 4:
    case 5:
      more.previousNames = [oneOf(pick, ...keys)];
      break;
  }
  if (maybe(pick)) spec['name'] = oneOf(pick, 'n1', 'n2', 'k1', 'k2');
  if (maybe(pick)) spec['peers'] = ['p1', 'p2', 'p3'].filter(() => maybe(pick));
  return document('Group', key, spec, { annotations, ...more });
}

function someDocuments(pick: Pick, state: Snapshot): readonly Document[] {
  const groups = keys.filter(() => maybe(pick)).map((key) => someGroup(pick, state, key));
  // References to a name that becomes a previous key are covered by other tests.
  if (groups.some(({ metadata }) => metadata.previousNames !== undefined)) return groups;
  const end = () => [oneOf(pick, ...keys, 'All', 'n1', 'name:n2')];
  return maybe(pick) ? [...groups, allow('p', end(), end())] : groups;
}

/** Creates or deletes a group through the API, as a user would. */
function byHand(pick: Pick, state: Snapshot): Snapshot {
  const group = oneOf(pick, ...state.ofKind('Group'));
  const outcome = maybe(pick)
    ? createOn(state, 'Group', { name: oneOf(pick, 'n1', 'n2', 'k1') })
    : deleteOn(state, group.id);
  return outcome.ok ? outcome.next : state;
}

/**
 * Lets three sources and users change an account in turn. A second plan of the same documents must be empty after every
 * apply.
 */
function live(pick: Pick): void {
  const mode = () => ({ conflictMode: oneOf(pick, 'guard', 'correct', 'observe', 'seed') });
  let state = withModes(office, { a: mode(), b: mode() });
  for (let step = 0; step < 8; step += 1) {
    if (pick(fc.nat, { max: 3 }) === 0) state = byHand(pick, state);
    const source = oneOf(pick, 'a', 'b', 'c');
    const documents = someDocuments(pick, state);
    const options = { adopt: oneOf(pick, 'identical', 'take', 'never'), force: maybe(pick), allowEmpty: true };
    const outcome = planOn(state, source, documents, { ...options, ids: `${step}-` });
    if (!outcome.ok) continue;
    state = outcome.next;
    const again = planOn(state, source, documents, { ...options, ids: `${step}-again-` });
    expect([refusals(again), again.ok ? linesOf(again, state) : []]).toEqual([[], []]);
  }
}

describe('documents that are planned twice', () => {
  it('give an empty plan after an apply, for any documents and changes by other sources', () => {
    fc.assert(
      fc.property(fc.gen(), (pick) => live(pick)),
      { seed: 1, numRuns: 200 },
    );
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
