import { asObject, isObject, type Json, type JsonObject } from '../../../lib/json.ts';

/**
 * Converts a schema to a structural schema of Kubernetes. `x-ref` is moved to the description, `x-merge` to the list or
 * map type.
 */
export function toStructuralSchema(schema: JsonObject): JsonObject {
  if (schema['x-literal'] === true) return anyType(schema);
  const result: Record<string, Json> = {};
  const isMixed = 'properties' in schema && isObject(schema['additionalProperties']);
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'x-ref' || keyword === 'x-merge') continue;
    // The object has both declared and free members. Free members are kept, and checked by the plan.
    if (keyword === 'additionalProperties' && isMixed) result['x-kubernetes-preserve-unknown-fields'] = true;
    if (keyword === 'additionalProperties' && isMixed) continue;
    // Structural schemas prune undeclared members by default, and `additionalProperties: false` is forbidden next to
    // `properties`.
    if (keyword === 'additionalProperties' && value === false) continue;
    result[keyword] =
      keyword === 'properties' ? mapMembers(asObject(value)) : isObject(value) ? toStructuralSchema(value) : value;
  }
  // A resource can only refer to a secret, not contain it, so of the two types only `object` remains.
  if (Array.isArray(schema['type'])) Object.assign(result, { type: 'object' });
  return { ...result, ...describedReference(schema), ...listType(schema) };
}

/**
 * Accepts any value, because a structural schema allows one type only. The plan checks that the value is a text or a
 * `valueFrom`.
 */
function anyType({ description }: JsonObject): JsonObject {
  return {
    'x-kubernetes-preserve-unknown-fields': true,
    ...(description === undefined ? {} : { description }),
  };
}

function mapMembers(properties: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, toStructuralSchema(asObject(schema))]),
  );
}

function describedReference(schema: JsonObject): JsonObject {
  const { description, 'x-ref': kind } = schema;
  return typeof kind === 'string' && typeof description === 'string'
    ? { description: `${description} Refers to ${kind}.` }
    : {};
}

/** A keyed list is a map only when its key is required in every entry. A list without `x-merge` is atomic. */
function listType(schema: JsonObject): JsonObject {
  if (schema['type'] === 'object') return schema['x-merge'] === 'atomic' ? { 'x-kubernetes-map-type': 'atomic' } : {};
  if (schema['type'] !== 'array') return {};
  const merge = String(schema['x-merge'] ?? 'atomic');
  const key = /^map\((.+)\)$/.exec(merge)?.[1];
  if (key === undefined) return { 'x-kubernetes-list-type': merge };
  const required = asObject(schema['items'])['required'];
  const isSure = Array.isArray(required) && required.includes(key);
  return isSure
    ? { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] }
    : { 'x-kubernetes-list-type': 'atomic' };
}
