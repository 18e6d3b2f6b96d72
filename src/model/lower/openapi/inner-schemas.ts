import { asObject, asObjectOrEmpty, isObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { schemaReference } from './operation.ts';

/**
 * Turns every nested object of the schemas into a separate named schema, so that generated clients have a named type
 * for it. For example, `rules` of `PolicyRequest` becomes a list of `PolicyRuleRequest`.
 */
export function nameInnerSchemas(schemas: JsonObject): JsonObject {
  const found: SchemasByName = new Map(Object.entries(schemas));
  for (const [name, schema] of Object.entries(schemas))
    found.set(name, replaceNested(asObject(schema), nameOf(name), found));
  return Object.fromEntries(found);
}

/** Name of a schema: its subject, and a suffix such as `Request` for its purpose. */
interface SchemaName {
  readonly subject: string;
  readonly purpose: string;
}

type SchemasByName = Map<string, Json>;

function nameOf(schema: string): SchemaName {
  const [, subject = schema, purpose = ''] = /^(.+?)(Request|Replacement)?$/.exec(schema) ?? [];
  return { subject, purpose };
}

/** Replaces the nested objects of a named schema by references. */
function replaceNested(schema: JsonObject, name: SchemaName, found: SchemasByName): JsonObject {
  if (!isObject(schema['properties'])) return schema;
  const properties = Object.entries(asObjectOrEmpty(schema['properties'])).map(
    ([member, value]) => [member, extractNested(asObject(value), memberName(name, member), member, found)] as const,
  );
  return { ...schema, properties: Object.fromEntries(properties) };
}

function extractNested(schema: JsonObject, name: SchemaName, member: string, found: SchemasByName): JsonObject {
  if (isObject(schema['items']))
    return { ...schema, items: extractNested(asObject(schema['items']), singularName(name), member, found) };
  if (schema['type'] !== 'object' || Object.keys(asObjectOrEmpty(schema['properties'])).length === 0) return schema;
  const text = `${name.subject}${name.purpose}`;
  if (found.has(text))
    throw new Error(`\`${member}\` would get the schema name ${text}, which another schema already has`);
  // Reserves the name while the nested objects are named.
  found.set(text, {});
  found.set(text, replaceNested(schema, name, found));
  const { description } = schema;
  return { ...schemaReference(text), ...(description === undefined ? {} : { description }) };
}

function memberName({ subject, purpose }: SchemaName, member: string): SchemaName {
  const words = member.split('_').map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return { subject: `${subject}${words.join('')}`, purpose };
}

/** Returns the name of a list's items: the singular of the list's name. */
function singularName({ subject, purpose }: SchemaName): SchemaName {
  return { subject: subject.replace(/ies$/, 'y').replace(/(ss)es$|([^s])s$/, '$1$2'), purpose };
}
