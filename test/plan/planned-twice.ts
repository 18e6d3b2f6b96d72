import fc from 'fast-check';
import { expect } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import type { Document } from '../../src/model/document.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import type { CheckOutcome } from '../../src/plan/documents/documents.ts';
import { allow, checkOn, createOn, deleteOn, document, linesOf, office, planOn, refusals, withModes } from './steps.ts';

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

function resultOf(outcome: CheckOutcome) {
  return outcome.ok ? ['Group', 'Policy'].map((kind) => outcome.next.ofKind(kind)) : outcome.problems;
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
 * apply, and a check without a plan must have the same result.
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
    expect(resultOf(checkOn(state, source, documents, { ...options, ids: `${step}-` }))).toEqual(resultOf(outcome));
    if (!outcome.ok) continue;
    state = outcome.next;
    const again = planOn(state, source, documents, { ...options, ids: `${step}-again-` });
    expect([refusals(again), again.ok ? linesOf(again, state) : []]).toEqual([[], []]);
  }
}

/** Runs `live` with this many random choices, which are the same every time. */
export function planTwice(runs: number): void {
  fc.assert(
    fc.property(fc.gen(), (pick) => live(pick)),
    { seed: 1, numRuns: runs },
  );
}
