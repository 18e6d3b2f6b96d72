import { asObject, isObject, type Json, type JsonObject, membersOf } from '../../../lib/json.ts';
import { named } from './operation.ts';

/**
 * The same schemas, with every object that stands inside one as a schema of its own: generated clients have a type with a
 * name for it. `rules` of `PolicyRequest` holds a list of `PolicyRuleRequest`.
 */
export function nameInnerSchemas(schemas: JsonObject): JsonObject {
  const found: Found = new Map(Object.entries(schemas));
  for (const [name, schema] of Object.entries(schemas)) found.set(name, outer(asObject(schema), nameOf(name), found));
  return Object.fromEntries(found);
}

/** What a schema is about, and the word behind it that says what it is for. */
interface Name {
  readonly subject: string;
  readonly purpose: string;
}

type Found = Map<string, Json>;

function nameOf(schema: string): Name {
  const [, subject = schema, purpose = ''] = /^(.+?)(Request|Replacement)?$/.exec(schema) ?? [];
  return { subject, purpose };
}

/** A schema that has a name, with its properties by theirs. */
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
    throw new Error(`\`${member}\` would be called ${text} in the description, as another schema is`);
  // Holds the place while what is inside is named.
  found.set(text, {});
  found.set(text, outer(schema, name, found));
  const { description } = schema;
  return { ...named(text), ...(description === undefined ? {} : { description }) };
}

function below({ subject, purpose }: Name, member: string): Name {
  const words = member.split('_').map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return { subject: `${subject}${words.join('')}`, purpose };
}

/** One of what a list holds. */
function singular({ subject, purpose }: Name): Name {
  return { subject: subject.replace(/ies$/, 'y').replace(/(ss)es$|([^s])s$/, '$1$2'), purpose };
}
