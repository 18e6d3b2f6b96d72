import type { Json, JsonObject } from '../../lib/json.ts';
import type { Registry } from '../declare/registry.ts';
import { specSchema } from '../lower/shape.ts';
import type { Validator } from './validator.ts';

/** Says of sound specs that they are, and of others only that there are some. */
export interface Acceptor {
  readonly validator: Validator;
  /** Whether anything was refused: what a full validator says of it is not known here. */
  readonly hasRefused: () => boolean;
}

/**
 * For a process that checks few specs and ends: it walks the schemas instead of compiling them. To load a compiler and to
 * compile those of a small directory takes 60 ms, and that they are sound is found in one.
 */
export function createAcceptor(registry: Registry): Acceptor {
  const schemas = new Map<string, JsonObject>();
  let refused = false;
  const check: Validator['check'] = (kind, surface, spec) => {
    const name = `${kind}/${surface}`;
    const schema = schemas.get(name) ?? specSchema(registry, registry.get(kind), surface);
    schemas.set(name, schema);
    if (accepts(schema, spec)) return [];
    refused = true;
    return [{ code: 'value_invalid', path: '', message: 'is not valid' }];
  };
  return { validator: { check }, hasRefused: () => refused };
}

type Rule = (limit: Json, value: Json, schema: JsonObject) => boolean;

/** What each word of our schemas asks of a value; a word that is not here accepts nothing, so that none is passed over. */
const rules: Readonly<Record<string, Rule>> = {
  type: (types, value) => [types].flat().some((type) => isOfType(type, value)),
  enum: (allowed, value) => (allowed as readonly Json[]).includes(value),
  minimum: (least, value) => typeof value !== 'number' || value >= Number(least),
  maximum: (most, value) => typeof value !== 'number' || value <= Number(most),
  minLength: (least, value) => typeof value !== 'string' || lengthOf(value) >= Number(least),
  maxLength: (most, value) => typeof value !== 'string' || lengthOf(value) <= Number(most),
  minItems: (least, value) => !Array.isArray(value) || value.length >= Number(least),
  maxItems: (most, value) => !Array.isArray(value) || value.length <= Number(most),
  minProperties: (least, value) => !isObject(value) || Object.keys(value).length >= Number(least),
  maxProperties: (most, value) => !isObject(value) || Object.keys(value).length <= Number(most),
  required: (names, value) =>
    !isObject(value) || (names as readonly string[]).every((name) => value[name] !== undefined),
  items: (schema, value) => !Array.isArray(value) || value.every((item) => accepts(schema, item)),
  properties: (members, value) =>
    !isObject(value) ||
    Object.entries(members as JsonObject).every(
      ([name, schema]) => value[name] === undefined || accepts(schema, value[name]),
    ),
  additionalProperties: (schema, value, { properties = {} }) =>
    !isObject(value) ||
    Object.keys(value).every(
      (name) => Object.hasOwn(properties as JsonObject, name) || accepts(schema, value[name] as Json),
    ),
  ...Object.fromEntries(['description', 'x-ref', 'x-merge', 'x-literal'].map((word) => [word, () => true])),
};

/** Whether a value is as a schema says, one that is made of the words above. */
export function accepts(schema: Json, value: Json): boolean {
  if (typeof schema === 'boolean') return schema;
  if (!isObject(schema)) return false;
  return Object.entries(schema).every(([word, limit]) => rules[word]?.(limit, value, schema) === true);
}

function isOfType(type: Json, value: Json): boolean {
  switch (type) {
    case 'object':
      return isObject(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'null':
      return value === null;
    default:
      // The others have the names that JavaScript gives them.
      return typeof value === type;
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Limits of texts count characters, not the halves of which some are made. */
function lengthOf(text: string): number {
  return [...text].length;
}
