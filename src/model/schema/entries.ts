import { asList, asObject, asObjects, canonicalJson, type Json, type JsonObject } from '../../lib/json.ts';
import { sha256 } from '../../lib/node-pure.ts';
import type { Kind } from '../declare/kind.ts';
import type { StoredObject } from '../state/object.ts';
import type { AnyField, Fields } from './field.ts';
import { createFieldFinder, entriesOf } from './field-search.ts';

/**
 * Order in which sets and keyed lists were last written: path of the list to the names of its elements. The spec itself
 * stays sorted, so that comparisons of specs ignore the order. Answers show a list that is absent here in sorted order.
 */
export type ListOrder = Readonly<Record<string, readonly string[]>>;

/** Member of `derived` that holds the list order. */
export const listOrderMember = 'list_order';

/** Returns the list order of an object; empty when none is stored. */
export function listOrderOf({ derived }: Pick<StoredObject, 'derived'>): ListOrder {
  // The cast is safe: only `withListOrder` writes this member.
  return (derived[listOrderMember] ?? {}) as ListOrder;
}

/**
 * Returns the name of a set element in a list order: its text, or its SHA-256 when the text is longer than 100
 * characters.
 */
export function elementName(value: Json): string {
  const text = typeof value === 'object' ? canonicalJson(value) : String(value);
  return text.length <= 100 ? text : `sha256:${sha256(text)}`;
}

/**
 * List order that a write states. `whole`: the write gave every list completely, so its order replaces the stored one.
 * Otherwise only new elements follow the written order.
 */
export interface GivenOrder {
  readonly lists: ListOrder;
  readonly whole: boolean;
}

/**
 * Returns the object with its list order updated. Existing elements keep their place; new ones follow in the order in
 * which they were given.
 */
export function withListOrder(
  fields: Fields,
  before: StoredObject | undefined,
  after: StoredObject,
  given: GivenOrder = { lists: {}, whole: false },
): StoredObject {
  const known = listOrderOf(after);
  const lists = elementNamesIn(fields, after.spec);
  const former = before === undefined ? new Map<string, readonly string[]>() : elementNamesIn(fields, before.spec);
  const order: Record<string, readonly string[]> = {};
  for (const [path, names] of lists) {
    const stated = given.lists[path] ?? names;
    const earlier = given.whole ? undefined : (known[path] ?? former.get(path));
    if (names.length < 2 || (stated === names && earlier === undefined)) continue;
    const preferred = earlier === undefined ? stated : [...earlier, ...stated];
    const arranged = arrange(names, preferred);
    if (arranged.some((name, at) => name !== names[at])) order[path] = arranged;
  }
  const { [listOrderMember]: _, ...derived } = after.derived;
  if (Object.keys(order).length === 0) return Object.keys(known).length === 0 ? after : { ...after, derived };
  return { ...after, derived: { ...derived, [listOrderMember]: order } };
}

/** Returns the spec with its lists in the order in which they were last written, as answers show them. */
export function inListOrder(fields: Fields, spec: JsonObject, order: ListOrder): JsonObject {
  const paths = Object.keys(order);
  if (paths.length === 0) return spec;
  return ordered(fields, spec, (path) => order[path], '');
}

type FindOrder = (path: string) => readonly string[] | undefined;

function ordered(fields: Fields, spec: JsonObject, find: FindOrder, prefix: string): JsonObject {
  const result: Record<string, Json> = {};
  for (const [name, value] of Object.entries(spec)) {
    const field = fields[name];
    result[name] = field === undefined ? value : orderedValue(field, value, find, `${prefix}${name}`);
  }
  return result;
}

function orderedValue(field: AnyField, value: Json, find: FindOrder, path: string): Json {
  if (field.type === 'object') return ordered(field.fields, asObject(value), find, `${path}.`);
  if (field.type === 'keyed') {
    const entries = keyedEntries(field.key, asObjects(value)).map(
      ([name, entry]) => [name, ordered(field.fields, entry, find, `${path}[${name}].`)] as const,
    );
    return sortByNames(entries, find(path));
  }
  if (!isSet(field)) return value;
  return sortByNames(
    asList(value).map((item) => [elementName(item), item] as const),
    find(path),
  );
}

/** Sorts the items by their index in `names`; items that are absent from it follow in their present order. */
function sortByNames(
  items: readonly (readonly [string, Json])[],
  names: readonly string[] | undefined,
): readonly Json[] {
  if (names === undefined) return items.map(([, item]) => item);
  const indexByName = new Map(names.map((name, at) => [name, at]));
  return [...items]
    .sort(([a], [b]) => (indexByName.get(a) ?? names.length) - (indexByName.get(b) ?? names.length))
    .map(([, item]) => item);
}

/** Sorts the names by the preferred order; names that are absent from it follow in their present order. */
function arrange(names: readonly string[], preferred: readonly string[]): readonly string[] {
  const present = new Set(names);
  return [...new Set([...preferred.filter((name) => present.has(name)), ...names])];
}

/** Returns the element names of every set and keyed list in a canonical spec, in their present order, by path. */
function elementNamesIn(fields: Fields, spec: JsonObject): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  addNames(found, fields, spec, '');
  return found;
}

function addNames(found: Map<string, readonly string[]>, fields: Fields, spec: JsonObject, prefix: string): void {
  for (const name of listedFields(fields)) {
    const [field, value] = [fields[name], spec[name]];
    if (field === undefined || value === undefined) continue;
    const path = `${prefix}${name}`;
    if (field.type === 'object') addNames(found, field.fields, asObject(value), `${path}.`);
    else if (field.type === 'keyed') {
      const entries = keyedEntries(field.key, asObjects(value));
      found.set(
        path,
        entries.map(([unit]) => unit),
      );
      for (const [unit, entry] of entries) addNames(found, field.fields, entry, `${path}[${unit}].`);
    } else if (isSet(field)) found.set(path, asList(value).map(elementName));
  }
}

/** Excludes membership: it may be large, and its order is kept with its elements. */
const listedFields = createFieldFinder((field) => field.type === 'keyed' || isSet(field));

function isSet(field: AnyField): boolean {
  return field.type === 'refs' || (field.type === 'list' && (field.set || field.unordered === true));
}

/**
 * Returns the entries with their unit keys: the value of the key field, with the next free ordinal for repeats (`web`,
 * `web#2`).
 */
export function keyedEntries(key: string, entries: readonly JsonObject[]): readonly (readonly [string, JsonObject])[] {
  const seen = new Map<string, number>();
  return entries.map((entry) => {
    const name = String(entry[key]);
    let count = (seen.get(name) ?? 0) + 1;
    while (count > 1 && seen.has(`${name}#${count}`)) count += 1;
    const unit = count === 1 ? name : `${name}#${count}`;
    seen.set(name, count);
    if (unit !== name) seen.set(unit, 1);
    return [unit, entry];
  });
}

/** Ids of keyed entries by field and unit key, as stored in `derived`. */
export type EntryIds = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Returns the ids of the entries in an object's keyed lists; empty when none are stored. */
export function entryIdsOf(object: StoredObject): EntryIds {
  // The cast is safe: only `withEntryIds` writes this member.
  return (object.derived['entry_ids'] ?? {}) as EntryIds;
}

/**
 * Returns the object with an id for each entry of the lists whose entries have ids. Known entries keep theirs. A new
 * entry gets the object's own id while no entry has it, otherwise a new id.
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
  const current = new Set(keys);
  const kept = new Map(Object.entries(known).filter(([key]) => current.has(key)));
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

/**
 * Whether a list has so many more entries than allowed that it is refused without reading its entries, although some of
 * them may be repeats. Stored lists may be somewhat longer than a limit that was introduced later.
 */
export function isFarTooLong(list: readonly Json[], most: number): boolean {
  return list.length > most + 10_000;
}
