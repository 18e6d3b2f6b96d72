import type { JsonObject } from '../../lib/json.ts';
import type { Fault, Kind } from '../../model/declare/kind.ts';
import { type EntryIds, entryIdsOf, keyedEntries } from '../../model/schema/entries.ts';
import { entriesOf } from '../../model/schema/field-search.ts';
import type { StoredObject } from '../../model/state/object.ts';

/** Ids of the list entries of a replaced object, and the faults of the ids in the request. */
export interface MatchedEntries {
  /** Absent for kinds whose entries have no ids. */
  readonly ids?: EntryIds;
  readonly faults: readonly Fault[];
}

/**
 * Matches the entries of a request with stored entries. An entry with an id keeps it, also when it is renamed. Entries
 * without an id are matched by name. An id that the object does not have, or that occurs twice, is a fault.
 */
export function matchEntries(kind: Kind, before: StoredObject, body: JsonObject): MatchedEntries {
  const lists = entriesOf(kind.spec).flatMap(([name, field]) =>
    field.type === 'keyed' && field.ids ? [[name, field.key] as const] : [],
  );
  if (lists.length === 0) return { faults: [] };
  const known = entryIdsOf(before);
  const matched = lists.map(([name, key]) => {
    const entries = Array.isArray(body[name]) ? (body[name] as readonly JsonObject[]) : [];
    return {
      name,
      ids: matchList(key, entries, known[name] ?? {}),
      faults: faultsOf(name, entries, known[name] ?? {}),
    };
  });
  return {
    ids: Object.fromEntries(matched.map(({ name, ids }) => [name, ids])),
    faults: matched.flatMap(({ faults }) => faults),
  };
}

/** Returns the ids by unit key: first the given ids, then stored ids of the same key that are not taken. */
function matchList(key: string, entries: readonly JsonObject[], stored: EntryIds[string]): EntryIds[string] {
  // The canonical order decides which of several entries with the same name gets which unit key.
  const sorted = [...entries].sort((a, b) => compare(String(a[key]), String(b[key])));
  const given = keyedEntries(key, sorted).flatMap(([unit, entry]) => {
    const id = givenId(entry);
    return id === undefined ? [] : [[unit, id] as const];
  });
  const taken = new Set(given.map(([, id]) => id));
  const byName = Object.entries(stored).filter(([, id]) => !taken.has(id));
  return { ...Object.fromEntries(byName), ...Object.fromEntries(given) };
}

function faultsOf(name: string, entries: readonly JsonObject[], stored: EntryIds[string]): readonly Fault[] {
  const own = new Set(Object.values(stored));
  const seen = new Set<string>();
  return entries.flatMap((entry, at): readonly Fault[] => {
    const id = givenId(entry);
    if (id === undefined) return [];
    const path = `/${name}/${at}/id`;
    if (!own.has(id)) {
      const message = `there is no entry with the id \`${id}\`; leave the id out to add one`;
      return [{ code: 'entry_unknown', path, message }];
    }
    if (!seen.has(id)) {
      seen.add(id);
      return [];
    }
    const message = `the id \`${id}\` is given to two entries; leave it out for a new entry`;
    return [{ code: 'entry_repeated', path, message }];
  });
}

function givenId(entry: JsonObject): string | undefined {
  const id = entry['id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
