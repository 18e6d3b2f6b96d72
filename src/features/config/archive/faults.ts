import type { Problem } from '../../../model/problem.ts';
import type { ProblemCode } from '../../../model/problem-codes.ts';
import { facetsOf } from '../../../model/state/facets.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';

/** How many faults are reported. */
const most = 20;

/** What keeps objects from being an account: ids that repeat, references that lead nowhere, values that two have. */
export function faultsOfState(state: Snapshot, objects: readonly StoredObject[]): readonly Problem[] {
  const problems: Problem[] = [];
  const ids = new Set<string>();
  for (const object of objects) {
    if (problems.length >= most) break;
    const add = (code: ProblemCode, message: string): void => {
      problems.push({ code, kind: object.kind, key: object.key ?? object.name, message });
    };
    if (ids.has(object.id)) add('object_duplicate', `the id ${object.id} occurs twice`);
    ids.add(object.id);
    const { keys, references } = facetsOf(state.registry, object);
    for (const { field, to } of references)
      if (state.get(to) === undefined)
        add('reference_unknown', `${field} refers to ${to}, which is not in the archive`);
    for (const { rule, value } of keys) {
      const holder = state.holderOf(object.kind, rule, value);
      if (holder !== undefined && holder.id !== object.id)
        add('value_taken', `${rule} ${value} is taken by another ${object.kind} of the archive`);
    }
  }
  return problems;
}
