import { nounOf } from '../../model/declare/kind-noun.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';

/**
 * Object that uses another object, as text: `policy: web (source team)`. The kind comes first, so that entries can be
 * hidden by kind.
 */
export type ReferrerText = string;

/** Matches the entry that stands for the referrers left out of a list. */
export const omittedReferrersPattern = /^and \d+ more$/;

/** Returns the words for the kind of a referrer. */
export function kindOfReferrer(text: ReferrerText): string {
  return text.slice(0, Math.max(0, text.indexOf(':')));
}

/** Objects that refer to an object. */
export type Referrers = readonly { readonly from: StoredObject }[];

/**
 * Returns a description of each referrer, without repeats. The list is complete, because deleting the object requires
 * that all of them stop using it.
 */
export function describeAllReferrers(state: Snapshot, referrers: Referrers): readonly ReferrerText[] {
  return [...new Set(referrers.map(({ from }) => describeReferrer(state, from)))];
}

/** Returns descriptions of the referrers, at most twenty and then the number of the others. */
export function describeReferrers(state: Snapshot, referrers: Referrers): readonly ReferrerText[] {
  const names = describeAllReferrers(state, referrers);
  return names.length > 20 ? [...names.slice(0, 20), `and ${names.length - 20} more`] : names;
}

/** Describes a referrer by its kind, name and owner. */
export function describeReferrer(state: Snapshot, object: StoredObject): ReferrerText {
  const kind = state.registry.get(object.kind);
  const owner = object.owner === undefined ? '' : ` (source ${object.owner})`;
  return `${nounOf(kind.name)}: ${object.key ?? nameIn(state, object)}${owner}`;
}

/**
 * Returns the display name of an object without a key: for a child with the parent's name, for an unnamed object its
 * id.
 */
function nameIn(state: Snapshot, { parent, name, id }: StoredObject): string {
  const within = parent === undefined ? '' : `${state.get(parent)?.name ?? parent}/`;
  return `${within}${name === '' ? id : name}`;
}
