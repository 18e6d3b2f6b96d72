import { asList, asObject, asObjects, canonicalJson, type Json, type JsonObject } from '../../lib/json.ts';
import { sha256 } from '../../lib/node-pure.ts';
import type { Kind } from '../declare/kind.ts';
import type { StoredObject } from '../state/object.ts';
import { type AnyField, createFieldFinder, entriesOf, type Fields } from './field.ts';

/**
 * The order in which sets and keyed lists were last written: path of the list to the names of its elements. The spec itself
 * stays sorted, so that nothing which compares specs sees an order; a list that is not named here is answered sorted.
 */
export type ListOrder = Readonly<Record<string, readonly string[]>>;

/** Under this name the order is kept in `derived`. */
export const listOrderMember = 'list_order';

/** The order of an object's lists. */
export function listOrderOf({ derived }: Pick<StoredObject, 'derived'>): ListOrder {
  // Written by `withListOrder` alone.
  return (derived[listOrderMember] ?? {}) as ListOrder;
}

/** The name by which an element of a set is known in an order. */
export function elementName(value: Json): string {
  const text = typeof value === 'object' ? canonicalJson(value) : String(value);
  return text.length <= 100 ? text : `sha256:${sha256(text)}`;
}

/** What was said about the order: `whole` when every list was given again, otherwise only new elements follow it. */
export interface GivenOrder {
  readonly lists: ListOrder;
  readonly whole: boolean;
}

/** The object with its lists in order: elements that stay keep their place, new ones follow as they were given. */
export function withListOrder(
  fields: Fields,
  before: StoredObject | undefined,
  after: StoredObject,
  given: GivenOrder = { lists: {}, whole: false },
): StoredObject {
  const known = listOrderOf(after);
  const lists = namesIn(fields, after.spec);
  const former = before === undefined ? new Map<string, readonly string[]>() : namesIn(fields, before.spec);
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

/** The spec with its lists in the order in which they were last written, as answers show it. */
export function inListOrder(fields: Fields, spec: JsonObject, order: ListOrder): JsonObject {
  const paths = Object.keys(order);
  if (paths.length === 0) return spec;
  return ordered(fields, spec, (path) => order[path], '');
}

type Find = (path: string) => readonly string[] | undefined;

function ordered(fields: Fields, spec: JsonObject, find: Find, prefix: string): JsonObject {
  const result: Record<string, Json> = {};
  for (const [name, value] of Object.entries(spec)) {
    const field = fields[name];
    result[name] = field === undefined ? value : orderedValue(field, value, find, `${prefix}${name}`);
  }
  return result;
}

function orderedValue(field: AnyField, value: Json, find: Find, path: string): Json {
  if (field.type === 'object') return ordered(field.fields, asObject(value), find, `${path}.`);
  if (field.type === 'keyed') {
    const entries = keyedEntries(field.key, asObjects(value)).map(
      ([name, entry]) => [name, ordered(field.fields, entry, find, `${path}[${name}].`)] as const,
    );
    return sortedBy(entries, find(path));
  }
  if (!isSet(field)) return value;
  return sortedBy(
    asList(value).map((item) => [elementName(item), item] as const),
    find(path),
  );
}

/** The items in the order of their names; those that are not in it follow as they are. */
function sortedBy(items: readonly (readonly [string, Json])[], names: readonly string[] | undefined): readonly Json[] {
  if (names === undefined) return items.map(([, item]) => item);
  const places = new Map(names.map((name, at) => [name, at]));
  return [...items]
    .sort(([a], [b]) => (places.get(a) ?? names.length) - (places.get(b) ?? names.length))
    .map(([, item]) => item);
}

/** The names in the preferred order; names that are not mentioned follow as they are. */
function arrange(names: readonly string[], preferred: readonly string[]): readonly string[] {
  const present = new Set(names);
  return [...new Set([...preferred.filter((name) => present.has(name)), ...names])];
}

/** The names of the elements of every set and keyed list of a canonical spec, as they stand there. */
function namesIn(fields: Fields, spec: JsonObject): ReadonlyMap<string, readonly string[]> {
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

/** Membership is not among them: it may be large, and its order is kept with its elements. */
const listedFields = createFieldFinder((field) => field.type === 'keyed' || isSet(field));

function isSet(field: AnyField): boolean {
  return field.type === 'refs' || (field.type === 'list' && (field.set || field.anyOrder === true));
}

/** Entries with their unit keys: the value of the key field, repeats with the next free ordinal (`web`, `web#2`). */
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
