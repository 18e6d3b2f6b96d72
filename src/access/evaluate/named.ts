import { type BitSet, bitsOf, noBits, uniteBits } from '../../lib/bits/bit-set.ts';
import type { State } from '../../model/declare/kind.ts';
import type { Access } from '../ruleset/access.ts';
import { type Part, partOf } from '../ruleset/object-readers.ts';

/** An object that people know by its name. */
export interface Named {
  readonly type: Part;
  readonly id: string;
  readonly name: string;
}

/** The object of this id in the first of the states that has it; an unknown id is a peer that does not exist yet. */
export function nameOf(id: string, ...states: readonly State[]): Named {
  for (const state of states) {
    const object = state.get(id);
    const type = partOf(object);
    if (object !== undefined && type !== undefined) return { type, id, name: object.name || (object.key ?? id) };
  }
  return { type: 'peer', id, name: id };
}

/** The ends that a rule means which names this group or this one object. */
export function endpointsNamed(access: Access, id: string): BitSet {
  const group = access.groups.get(id);
  if (group !== undefined) return uniteBits(group.members, group.guarded);
  const slot = access.endpoints.slots.get(id);
  return slot === undefined ? noBits : bitsOf([slot]);
}

/** By name, then by id. */
export function compareNamed(a: Named, b: Named): number {
  return compareTexts(a.name, b.name) || compareTexts(a.id, b.id);
}

/** The order of code units, the same everywhere. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
