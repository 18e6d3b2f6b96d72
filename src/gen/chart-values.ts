import { explainedMembers } from '../documents/explained.ts';
import { asList, asObject, asObjectOrEmpty, type Json, type JsonObject } from '../lib/json.ts';
import { table } from './markdown.ts';

/** Line at which the hand-written part of a README ends. */
const generatedMarker = '<!-- Written by `npm run gen` from values.yaml and values.schema.json; do not edit below. -->';

/**
 * Returns the README of a chart: the hand-written part, and a table of every value with its type, default and meaning.
 */
export function chartReadme(readme: string, values: string, schema: string): string {
  const end = readme.indexOf(generatedMarker);
  if (end < 0)
    throw new Error(`the README of the chart has no place for its values; write the line\n${generatedMarker}`);
  const all = asObject(JSON.parse(schema));
  const rows = explainedMembers(values).map(({ path, comment, value }) => {
    const name = path.join('.');
    if (comment === undefined) throw new Error(`values.yaml does not explain ${name}; write a comment in front of it`);
    const type = typeName(schemaAt(all, path, name), all);
    return [`\`${name}\``, type, value === undefined ? '' : `\`${JSON.stringify(value)}\``, comment];
  });
  return `${readme.slice(0, end)}${generatedMarker}\n\n${table(['Value', 'Type', 'Default', 'Meaning'], rows)}`;
}

function schemaAt(all: JsonObject, path: readonly string[], name: string): JsonObject {
  return path.reduce((schema, step) => {
    const member = asObjectOrEmpty(schema['properties'])[step];
    if (member === undefined) throw new Error(`values.schema.json does not know ${name}; add it`);
    return resolveReference(asObject(member), all);
  }, all);
}

function resolveReference(schema: JsonObject, all: JsonObject): JsonObject {
  const { $ref: reference } = schema;
  if (typeof reference !== 'string') return schema;
  return asObject(asObjectOrEmpty(all['definitions'])[reference.replace('#/definitions/', '')]);
}

function typeName(schema: JsonObject, all: JsonObject): string {
  const { type, enum: words, oneOf, items } = schema;
  if (words !== undefined) return 'string';
  if (type === undefined && oneOf !== undefined)
    return asList(oneOf)
      .map((one) => typeName(asObject(one), all))
      .join(' or ');
  if (type === 'array')
    return items === undefined ? 'list' : `list of ${typeName(resolveReference(asObject(items), all), all)}s`;
  return [type ?? null].flat().map(formatType).join(' or ');
}

function formatType(type: Json): string {
  return typeof type === 'string' ? type : 'any';
}
