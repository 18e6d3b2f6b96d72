import { asObjects } from '../../lib/json.ts';
import type { Kind } from '../declare/kind.ts';
import type { StoredObject } from '../state/object.ts';
import { entriesOf } from './field.ts';
import { keyedEntries } from './keyed-entries.ts';

/** Ids of keyed entries by field and unit key, as they are kept in `derived`. */
export type EntryIds = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The ids of the entries of an object's keyed lists. */
export function entryIdsOf(object: StoredObject): EntryIds {
  // Written by `withEntryIds` alone.
  return (object.derived['entry_ids'] ?? {}) as EntryIds;
}

/**
 * The object with an id for every entry that carries one: known entries keep theirs, the first entry of an object has the
 * object's own id, others get a new one.
 */
export function withEntryIds(kind: Kind, object: StoredObject, newId: () => string): StoredObject {
  const lists = entriesOf(kind.spec).filter(([, field]) => field.type === 'keyed' && field.ids);
  if (lists.length === 0) return object;
  const known = entryIdsOf(object);
  const ids: Record<string, Record<string, string>> = {};
  for (const [name, field] of lists) {
    if (field.type !== 'keyed') continue;
    const keys = keyedEntries(field.key, asObjects(object.spec[name] ?? [])).map(([key]) => key);
    ids[name] = idsFor(keys, known[name] ?? {}, object.id, newId);
  }
  return { ...object, derived: { ...object.derived, entry_ids: ids } };
}

function idsFor(
  keys: readonly string[],
  known: Readonly<Record<string, string>>,
  own: string,
  newId: () => string,
): Record<string, string> {
  const wanted = new Set(keys);
  const kept = new Map(Object.entries(known).filter(([key]) => wanted.has(key)));
  let ownIsFree = ![...kept.values()].includes(own);
  return Object.fromEntries(
    keys.map((key) => {
      const present = kept.get(key);
      if (present !== undefined) return [key, present];
      const id = ownIsFree ? own : newId();
      ownIsFree = false;
      return [key, id];
    }),
  );
}
