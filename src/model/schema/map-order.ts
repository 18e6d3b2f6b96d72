import { asObject, asObjects, type Json, type JsonObject, sortedJson } from '../../lib/json.ts';
import type { StoredObject } from '../state/object.ts';
import type { AnyField, Fields } from './field.ts';
import { entriesOf } from './field-search.ts';

/**
 * Returns the object with its members in the order that answers use. Postgres stores jsonb members in its own order, so
 * an object that was read back would otherwise differ from the one that was written. Answers list declared fields in
 * their declared order; this sorts the rest: maps with user-chosen names, and `derived`.
 */
export function sortMaps(fields: Fields, object: StoredObject): StoredObject {
  const spec = withSortedMaps(fields, object.spec);
  return { ...object, spec, derived: sortedJson(object.derived) };
}

const hasMapsCache = new WeakMap<Fields, boolean>();

/** Whether one of these fields, at any depth, is a map with user-chosen names. */
function hasMaps(fields: Fields): boolean {
  const known = hasMapsCache.get(fields) ?? entriesOf(fields).some(([, field]) => containsMap(field));
  hasMapsCache.set(fields, known);
  return known;
}

function containsMap(field: AnyField): boolean {
  if (field.type === 'object' || field.type === 'keyed') return hasMaps(field.fields);
  if (field.type === 'list') return containsMap(field.of);
  return field.type === 'map' || field.type === 'refMap';
}

function withSortedMaps(fields: Fields, spec: JsonObject): JsonObject {
  if (!hasMaps(fields)) return spec;
  const result: Record<string, Json> = {};
  for (const [name, value] of Object.entries(spec)) {
    const field = fields[name];
    result[name] = field === undefined || !containsMap(field) ? value : sortedMap(field, value);
  }
  return result;
}

function sortedMap(field: AnyField, value: Json): Json {
  if (field.type === 'map' || field.type === 'refMap') return sortedJson(value);
  if (field.type === 'object') return withSortedMaps(field.fields, asObject(value));
  const items = asObjects(value);
  if (field.type === 'keyed') return items.map((item) => withSortedMaps(field.fields, item));
  return field.type === 'list' ? items.map((item) => sortedMap(field.of, item)) : value;
}
