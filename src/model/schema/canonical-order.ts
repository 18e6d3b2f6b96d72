import { asObject, asObjects, type Json, type JsonObject, sortedJson } from '../../lib/json.ts';
import type { StoredObject } from '../state/object.ts';
import { type AnyField, entriesOf, type Fields } from './field.ts';

/**
 * The object with its members in the one order that answers show. Postgres keeps members of jsonb in an order of its own, so
 * that without this an object which was read back would look other than the one that was written. Everything with declared
 * fields is shown in their order; what is left are names that people chose, and what the server noted.
 */
export function inCanonicalOrder(fields: Fields, object: StoredObject): StoredObject {
  const spec = withSortedMaps(fields, object.spec);
  return { ...object, spec, derived: sortedJson(object.derived) };
}

const kindsOfMaps = new WeakMap<Fields, boolean>();

/** Whether a field among these, or inside one of them, has names that people chose. */
function hasMaps(fields: Fields): boolean {
  const known = kindsOfMaps.get(fields) ?? entriesOf(fields).some(([, field]) => isMapped(field));
  kindsOfMaps.set(fields, known);
  return known;
}

function isMapped(field: AnyField): boolean {
  if (field.type === 'object' || field.type === 'keyed') return hasMaps(field.fields);
  if (field.type === 'list') return isMapped(field.of);
  return field.type === 'map' || field.type === 'refMap';
}

function withSortedMaps(fields: Fields, spec: JsonObject): JsonObject {
  if (!hasMaps(fields)) return spec;
  const result: Record<string, Json> = {};
  for (const [name, value] of Object.entries(spec)) {
    const field = fields[name];
    result[name] = field === undefined || !isMapped(field) ? value : sortedMap(field, value);
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
