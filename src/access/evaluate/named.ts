import { type BitSet, bitsOf, noBits, uniteBits } from '../../lib/bits/bit-set.ts';
import type { State } from '../../model/declare/kind.ts';
import type { AccessImage } from '../ruleset/access.ts';
import { type AccessObjectType, accessTypeOf } from '../ruleset/object-readers.ts';

/** An object with its name. */
export interface NamedObject {
  readonly type: AccessObjectType;
  readonly id: string;
  readonly name: string;
}

/**
 * Returns the object with this id from the first state that contains it. An unknown id counts as a peer that does not
 * exist yet.
 */
export function findNamedObject(id: string, ...states: readonly State[]): NamedObject {
  for (const state of states) {
    const object = state.get(id);
    const type = accessTypeOf(object);
    if (object !== undefined && type !== undefined) return { type, id, name: object.name || (object.key ?? id) };
  }
  return { type: 'peer', id, name: id };
}

/** Returns the endpoints that a rule covers when it names this group or this single object. */
export function endpointsNamed(access: AccessImage, id: string): BitSet {
  const group = access.groups.get(id);
  if (group !== undefined) return uniteBits(group.members, group.guarded);
  const slot = access.endpoints.slots.get(id);
  return slot === undefined ? noBits : bitsOf([slot]);
}

/** Compares by name, then by id. */
export function compareNamed(a: NamedObject, b: NamedObject): number {
  return compareTexts(a.name, b.name) || compareTexts(a.id, b.id);
}

/** Compares by UTF-16 code units, which gives the same order in every locale. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
