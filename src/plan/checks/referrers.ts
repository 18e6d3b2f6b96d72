import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';

/** Who uses an object, in words: `policy: web (source team)`. The kind comes first, so that it can be hidden by it. */
export type Referrer = string;

/** Stands for those that a list leaves out. */
export const restText = /^and \d+ more$/;

/** The name of the kind of a referrer, in lower case. */
export function kindOfReferrer(text: Referrer): string {
  return text.slice(0, Math.max(0, text.indexOf(':')));
}

/** Those who refer to an object. */
export type Referrers = readonly { readonly from: StoredObject }[];

/** Each object that uses an object: all of them are needed to delete it. */
export function namesOf(state: Snapshot, referrers: Referrers): readonly Referrer[] {
  return [...new Set(referrers.map(({ from }) => describeReferrer(state, from)))];
}

/** Those who use an object; of many the first twenty. */
export function describeReferrers(state: Snapshot, referrers: Referrers): readonly Referrer[] {
  const names = namesOf(state, referrers);
  return names.length > 20 ? [...names.slice(0, 20), `and ${names.length - 20} more`] : names;
}

/** Kind, name and owner of an object that uses another one. */
export function describeReferrer(state: Snapshot, object: StoredObject): Referrer {
  const kind = state.registry.get(object.kind);
  const owner = object.owner === undefined ? '' : ` (source ${object.owner})`;
  return `${kind.name.toLowerCase()}: ${object.key ?? nameIn(state, object)}${owner}`;
}

/** What people call an object without a key: a child by its parent too, what has no name by its id. */
function nameIn(state: Snapshot, { parent, name, id }: StoredObject): string {
  const within = parent === undefined ? '' : `${state.get(parent)?.name ?? parent}/`;
  return `${within}${name === '' ? id : name}`;
}
