import { isObject, type Json, type JsonObject } from '../../../src/lib/json.ts';
import type { Described } from '../described.ts';
import { asObject, resolved } from '../example-ids.ts';

/** A body in which one member is empty or omitted. */
export interface Variant {
  /** Path of the member, with `*` for items of lists. */
  readonly member: string;
  readonly body: Json;
  /** Position of the member in the body. */
  readonly at: readonly (string | number)[];
  /** Value that was sent for the member. Absent when the member is omitted. */
  readonly sent?: Json;
}

/** Returns bodies of an operation, in each of which one list, map, object or text is empty or omitted. */
export function variantsOf(document: JsonObject, { operation }: Described, example: Json): readonly Variant[] {
  const content = asObject(asObject(operation['requestBody'])?.['content']);
  const schema = asObject(asObject(content?.['application/json'])?.['schema']) ?? {};
  return emptyableMembers(document, schema, example, []).flatMap(({ at, empty }) => {
    const member = at.map((name) => (typeof name === 'number' ? '*' : name)).join('/');
    return [
      { member, at, sent: empty, body: withValue(example, at, empty) },
      { member, at, body: withValue(example, at, undefined) },
    ];
  });
}

interface EmptyableMember {
  readonly at: readonly (string | number)[];
  readonly empty: Json;
}

/** Returns the members that may be empty, in a value and in its members. */
function emptyableMembers(
  document: JsonObject,
  schema: JsonObject,
  value: Json,
  at: EmptyableMember['at'],
): readonly EmptyableMember[] {
  if (Array.isArray(value)) {
    const [first] = value as readonly Json[];
    return first === undefined ? [] : emptyableMembers(document, itemsOf(document, schema), first, [...at, 0]);
  }
  if (!isObject(value)) return [];
  const members = Object.entries(propertiesOf(document, schema));
  return members.flatMap(([name, member]) => {
    const inner = asObject(member) ?? {};
    const empty = emptyOf(document, inner);
    const present = (value as JsonObject)[name];
    return [
      ...(empty === undefined ? [] : [{ at: [...at, name], empty }]),
      ...(present === undefined ? [] : emptyableMembers(document, inner, present, [...at, name])),
    ];
  });
}

function itemsOf(document: JsonObject, schema: JsonObject): JsonObject {
  return asObject(parts(document, schema).find(({ items }) => items !== undefined)?.['items']) ?? {};
}

function propertiesOf(document: JsonObject, schema: JsonObject): JsonObject {
  return Object.assign({}, ...parts(document, schema).map((part) => part['properties'] ?? {}));
}

/** Returns whether answers of an operation always show a member. */
export function isAlwaysShown(document: JsonObject, { answer }: Described, at: EmptyableMember['at']): boolean {
  let schema = asObject(asObject(answer.content?.['application/json'])?.['schema']) ?? {};
  let shown = true;
  for (const name of at) {
    if (typeof name === 'number') {
      schema = itemsOf(document, schema);
      continue;
    }
    shown = parts(document, schema).some(({ required }) => Array.isArray(required) && required.includes(name));
    schema = asObject(propertiesOf(document, schema)[name]) ?? {};
  }
  return shown;
}

/** Returns a schema and all schemas that it is composed of. */
function parts(document: JsonObject, schema: JsonObject): readonly JsonObject[] {
  const found = resolved(document, schema);
  const inner = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => (found[keyword] ?? []) as readonly JsonObject[]);
  return [found, ...inner.flatMap((part) => parts(document, part))];
}

function emptyOf(document: JsonObject, schema: JsonObject): Json | undefined {
  for (const { type, enum: words } of parts(document, schema)) {
    const types = Array.isArray(type) ? type : [type];
    if (types.includes('array')) return [];
    if (types.includes('object')) return {};
    if (types.includes('string') && words === undefined) return '';
  }
  return undefined;
}

function withValue(value: Json, [name, ...rest]: EmptyableMember['at'], given: Json | undefined): Json {
  if (Array.isArray(value))
    return value.map((item: Json, index) => (index === name ? (withValue(item, rest, given) ?? null) : item));
  const object = value as JsonObject;
  const next = rest.length === 0 ? given : withValue(object[String(name)] ?? {}, rest, given);
  const { [String(name)]: _, ...others } = object;
  return next === undefined ? others : { ...object, [String(name)]: next };
}

/** Returns the value of a body at a position. */
export function valueAt(value: Json | undefined, at: EmptyableMember['at']): Json | undefined {
  return at.reduce<Json | undefined>((inner, name) => {
    if (Array.isArray(inner)) return inner[Number(name)];
    return isObject(inner) ? (inner as JsonObject)[String(name)] : undefined;
  }, value);
}
