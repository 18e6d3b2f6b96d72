import { asObject, equalJson, isObject, type Json, type JsonObject } from '../../lib/json.ts';
import type { AnyField, Fields } from './field.ts';
import { memberField } from './secret-fields.ts';

/** A spec whose secrets are those of another one, and which top-level fields had others. */
export interface WithSecrets {
  readonly spec: JsonObject;
  readonly replaced: readonly string[];
}

/**
 * The spec with the secrets that `present` has at the same places: of what once was there, a newer secret is kept. What
 * answers show is a value like any other.
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
  // Items of a list have no names: only lists of one length are taken to hold the same ones.
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
