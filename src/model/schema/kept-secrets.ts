import { asObject, equalJson, isObject, type Json, type JsonObject } from '../../lib/json.ts';
import type { AnyField, Fields } from './field.ts';
import { memberField } from './secret-fields.ts';

/** A spec with the secrets of another spec, and the top-level fields that this changed. */
export interface WithSecrets {
  readonly spec: JsonObject;
  readonly replaced: readonly string[];
}

/**
 * Returns the spec with the secrets that `present` has at the same paths, so that bringing back an old spec keeps newer
 * secrets. Secrets that answers show (`read: 'shown'`) are treated like any other value and not replaced.
 */
export function withSecretsOf(fields: Fields, spec: JsonObject, present: JsonObject): WithSecrets {
  const kept = keepInFields(fields, spec, present);
  return { spec: kept, replaced: Object.keys(spec).filter((name) => !equalJson(kept[name], spec[name])) };
}

function keepInFields(fields: Fields, spec: JsonObject, present: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(spec).map(([name, value]) => [name, keepInValue(fields[name], value, present[name])]),
  );
}

function keepInValue(field: AnyField | undefined, value: Json, present: Json | undefined): Json {
  if (field === undefined || present === undefined) return value;
  if (field.type === 'secret') return field.read === 'shown' ? value : present;
  if (field.type === 'object' && isObject(value) && isObject(present))
    return keepInFields(field.fields, value, present);
  if (field.type === 'map' && isObject(value) && isObject(present)) return keepInMap(field, value, present);
  if (!Array.isArray(value) || !Array.isArray(present)) return value;
  if (field.type === 'keyed') return value.map((entry) => keepInEntry(field, entry, present));
  // List items have no names. Lists of equal length are taken to contain the same items.
  if (field.type === 'list' && value.length === present.length)
    return value.map((item, at) => keepInValue(field.of, item, present[at]));
  return value;
}

function keepInMap(
  field: Extract<AnyField, { readonly type: 'map' }>,
  members: JsonObject,
  present: JsonObject,
): JsonObject {
  const keep = (name: string, item: Json): Json => keepInValue(memberField(field, name), item, present[name]);
  return Object.fromEntries(Object.entries(members).map(([name, item]) => [name, keep(name, item)]));
}

function keepInEntry(
  { key, fields }: Extract<AnyField, { readonly type: 'keyed' }>,
  entry: Json,
  present: readonly Json[],
): Json {
  const other = present.find((item) => isObject(item) && isObject(entry) && item[key] === entry[key]);
  return other === undefined ? entry : keepInFields(fields, asObject(entry), asObject(other));
}
