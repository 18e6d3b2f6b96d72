import { explainedMembers } from '../documents/explained.ts';
import { asList, asObject, type Json, type JsonObject, membersOf } from '../lib/json.ts';
import { table } from './markdown.ts';

/** Line at which the hand-written part of a README ends. */
const mark = '<!-- Written by `npm run gen` from values.yaml and values.schema.json; do not edit below. -->';

/**
 * Returns the README of a chart: the hand-written part, and a table of every value with its type, default and meaning.
 */
export function chartReadme(readme: string, values: string, schema: string): string {
  const end = readme.indexOf(mark);
  if (end < 0) throw new Error(`the README of the chart has no place for its values; write the line\n${mark}`);
  const all = asObject(JSON.parse(schema));
  const rows = explainedMembers(values).map(({ path, comment, value }) => {
    const name = path.join('.');
    if (comment === undefined) throw new Error(`values.yaml does not explain ${name}; write a comment in front of it`);
    const type = typeName(schemaAt(all, path, name), all);
    return [`\`${name}\``, type, value === undefined ? '' : `\`${JSON.stringify(value)}\``, comment];
  });
  return `${readme.slice(0, end)}${mark}\n\n${table(['Value', 'Type', 'Default', 'Meaning'], rows)}`;
}

function schemaAt(all: JsonObject, path: readonly string[], name: string): JsonObject {
  return path.reduce((schema, step) => {
    const member = membersOf(schema['properties'])[step];
    if (member === undefined) throw new Error(`values.schema.json does not know ${name}; add it`);
    return resolved(asObject(member), all);
  }, all);
}

function resolved(schema: JsonObject, all: JsonObject): JsonObject {
  const { $ref: reference } = schema;
  if (typeof reference !== 'string') return schema;
  return asObject(membersOf(all['definitions'])[reference.replace('#/definitions/', '')]);
}

function typeName(schema: JsonObject, all: JsonObject): string {
  const { type, enum: words, oneOf, items } = schema;
  if (words !== undefined) return 'string';
  if (type === undefined && oneOf !== undefined)
    return asList(oneOf)
      .map((one) => typeName(asObject(one), all))
      .join(' or ');
  if (type === 'array')
    return items === undefined ? 'list' : `list of ${typeName(resolved(asObject(items), all), all)}s`;
  return [type ?? null].flat().map(wordOf).join(' or ');
}

function wordOf(type: Json): string {
  return typeof type === 'string' ? type : 'any';
}
