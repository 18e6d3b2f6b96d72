import { asObject, isObject, type Json, type JsonObject, membersOf } from '../../../lib/json.ts';
import { named } from './operation.ts';

/**
 * Turns every nested object of the schemas into a separate named schema, so that generated clients have a named type
 * for it. For example, `rules` of `PolicyRequest` becomes a list of `PolicyRuleRequest`.
 */
export function nameInnerSchemas(schemas: JsonObject): JsonObject {
  const found: Found = new Map(Object.entries(schemas));
  for (const [name, schema] of Object.entries(schemas)) found.set(name, outer(asObject(schema), nameOf(name), found));
  return Object.fromEntries(found);
}

/** Name of a schema: its subject, and a suffix such as `Request` for its purpose. */
interface Name {
  readonly subject: string;
  readonly purpose: string;
}

type Found = Map<string, Json>;

function nameOf(schema: string): Name {
  const [, subject = schema, purpose = ''] = /^(.+?)(Request|Replacement)?$/.exec(schema) ?? [];
  return { subject, purpose };
}

/** Replaces the nested objects of a named schema by references. */
function outer(schema: JsonObject, name: Name, found: Found): JsonObject {
  if (!isObject(schema['properties'])) return schema;
  const properties = Object.entries(membersOf(schema['properties'])).map(
    ([member, value]) => [member, inner(asObject(value), below(name, member), member, found)] as const,
  );
  return { ...schema, properties: Object.fromEntries(properties) };
}

function inner(schema: JsonObject, name: Name, member: string, found: Found): JsonObject {
  if (isObject(schema['items']))
    return { ...schema, items: inner(asObject(schema['items']), singular(name), member, found) };
  if (schema['type'] !== 'object' || Object.keys(membersOf(schema['properties'])).length === 0) return schema;
  const text = `${name.subject}${name.purpose}`;
  if (found.has(text))
    throw new Error(`\`${member}\` would get the schema name ${text}, which another schema already has`);
  // Reserves the name while the nested objects are named.
  found.set(text, {});
  found.set(text, outer(schema, name, found));
  const { description } = schema;
  return { ...named(text), ...(description === undefined ? {} : { description }) };
}

function below({ subject, purpose }: Name, member: string): Name {
  const words = member.split('_').map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return { subject: `${subject}${words.join('')}`, purpose };
}

/** Returns the name of a list's items: the singular of the list's name. */
function singular({ subject, purpose }: Name): Name {
  return { subject: subject.replace(/ies$/, 'y').replace(/(ss)es$|([^s])s$/, '$1$2'), purpose };
}
