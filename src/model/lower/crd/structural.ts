import { asObject, isObject, type Json, type JsonObject } from '../../../lib/json.ts';

/** The schema under the rules for structural schemas; what `x-ref` and `x-merge` say moves to where Kubernetes looks for it. */
export function structural(schema: JsonObject): JsonObject {
  if (schema['x-literal'] === true) return eitherType(schema);
  const result: Record<string, Json> = {};
  const isMixed = 'properties' in schema && isObject(schema['additionalProperties']);
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'x-ref' || keyword === 'x-merge') continue;
    // Declared members beside free ones: what is free is kept, and left to the plan.
    if (keyword === 'additionalProperties' && isMixed) result['x-kubernetes-preserve-unknown-fields'] = true;
    if (keyword === 'additionalProperties' && isMixed) continue;
    // Structural schemas prune what is not declared; saying so beside `properties` is forbidden.
    if (keyword === 'additionalProperties' && value === false) continue;
    result[keyword] =
      keyword === 'properties' ? mapMembers(asObject(value)) : isObject(value) ? structural(value) : value;
  }
  // A secret is named here, never written: one type of the two.
  if (Array.isArray(schema['type'])) Object.assign(result, { type: 'object' });
  return { ...result, ...describedReference(schema), ...listType(schema) };
}

/** A structural schema has one type: what may be a text or name where it comes from is left to the plan. */
function eitherType({ description }: JsonObject): JsonObject {
  return {
    'x-kubernetes-preserve-unknown-fields': true,
    ...(description === undefined ? {} : { description }),
  };
}

function mapMembers(properties: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, structural(asObject(schema))]));
}

function describedReference(schema: JsonObject): JsonObject {
  const { description, 'x-ref': kind } = schema;
  return typeof kind === 'string' && typeof description === 'string'
    ? { description: `${description} Refers to ${kind}.` }
    : {};
}

/** A keyed list is a map only when every entry is sure to have its key; without a word on merging a list is one piece. */
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
