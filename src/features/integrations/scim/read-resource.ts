import { isObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { badRequest } from './refusal.ts';
import { type Attribute, attributeOf, isIgnored, type ResourceType, subAttributeOf } from './schema.ts';

/** Maximum number of values of an attribute of a user, and maximum length of a text, in characters. */
const limits = { values: 100, characters: 1024 };

/** Maximum number of members that one request may name. */
const maxMembers = 20_000;

/**
 * Reads a resource that a provider sends, and returns it with the names and types of its schema. Read-only attributes,
 * and attributes that the server does not store, are left out. Throws `invalidValue` for a value of another type.
 */
export function readResource(type: ResourceType, body: JsonObject): JsonObject {
  const entries = Object.entries(body).flatMap(([name, value]): readonly (readonly [string, Json])[] => {
    const attribute = isIgnored(type, name) ? undefined : attributeOf(type, name);
    if (attribute === undefined || attribute.mutability === 'readOnly' || value === null) return [];
    return [[attribute.name, readValue(attribute, value, attribute.name)]];
  });
  return withOnePrimary(Object.fromEntries(entries));
}

/** Reads a value of an attribute in the type that its schema requires. */
export function readValue(attribute: Attribute, value: Json, path: string): Json {
  if (attribute.multiValued !== true) return readSingle(attribute, value, path);
  // Some providers send a single value instead of a list.
  const list = Array.isArray(value) ? value : [value];
  checkValueCount(attribute, list.length, path);
  return list.map((item: Json) => readSingle(attribute, item, path));
}

/** Throws `tooMany` when an attribute would have more values than allowed. */
export function checkValueCount(attribute: Attribute, count: number, path: string): void {
  const limit = attribute.name === 'members' ? maxMembers : limits.values;
  if (count > limit) throw badRequest('tooMany', `\`${path}\` has ${count} values; the maximum at once is ${limit}`);
}

function readSingle(attribute: Attribute, value: Json, path: string): Json {
  switch (attribute.type) {
    case 'boolean':
      return readBoolean(value, path);
    case 'complex':
      return readComplex(attribute, value, path);
    default:
      if (typeof value !== 'string') throw badRequest('invalidValue', `\`${path}\` must be a text`);
      if (value.length > limits.characters)
        throw badRequest('invalidValue', `\`${path}\` has more than ${limits.characters} characters`);
      return value;
  }
}

/** Reads a boolean. Some providers write true and false in quotes. */
function readBoolean(value: Json, path: string): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string' && /^(true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  throw badRequest('invalidValue', `\`${path}\` must be true or false`);
}

function readComplex(attribute: Attribute, value: Json, path: string): JsonObject {
  // For an attribute with sub-attributes, some providers send only its bare `value`.
  const whole = typeof value === 'string' && subAttributeOf(attribute, 'value') !== undefined ? { value } : value;
  if (!isObject(whole)) throw badRequest('invalidValue', `\`${path}\` must be an object`);
  return Object.fromEntries(
    Object.entries(whole as JsonObject).flatMap(([name, item]): readonly (readonly [string, Json])[] => {
      const sub = subAttributeOf(attribute, name);
      if (sub === undefined || item === null) return [];
      return [[sub.name, readSingle(sub, item, `${path}.${sub.name}`)]];
    }),
  );
}

/** Returns the resource with at most one primary e-mail address: the last one that is marked as primary. */
export function withOnePrimary(resource: JsonObject): JsonObject {
  const { emails } = resource;
  if (!Array.isArray(emails)) return resource;
  const last = emails.findLastIndex((email: Json) => isObject(email) && email['primary'] === true);
  if (last < 0) return resource;
  const marked = emails.map((email: Json, at) =>
    isObject(email) && at !== last ? without(email as JsonObject, 'primary') : email,
  );
  return { ...resource, emails: marked };
}

function without(value: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([one]) => one !== name));
}
