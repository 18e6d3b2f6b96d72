import type { Json, JsonObject } from '../../../lib/json.ts';
import type { Registry } from '../../declare/registry.ts';
import { specSchema } from '../../lower/shape.ts';
import type { Validator } from './validator.ts';

/** A fast validator that accepts valid specs, but does not explain why it refuses a spec. */
export interface Acceptor {
  readonly validator: Validator;
  /** Returns whether a spec was refused. Only a full validator can report its faults. */
  readonly hasRefused: () => boolean;
}

/**
 * Creates a validator for a process that checks few specs and ends. It walks the schemas instead of compiling them:
 * loading the compiler and compiling the schemas for a small directory takes 60 ms, while walking them takes one.
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

type KeywordCheck = (limit: Json, value: Json, schema: JsonObject) => boolean;

/**
 * Check of each JSON Schema keyword that Heddle's schemas use. An unknown keyword accepts nothing, so that none is
 * ignored.
 */
const keywordChecks: Readonly<Record<string, KeywordCheck>> = {
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

/** Checks a value against a schema that uses only keywords in `keywordChecks`. */
export function accepts(schema: Json, value: Json): boolean {
  if (typeof schema === 'boolean') return schema;
  if (!isObject(schema)) return false;
  return Object.entries(schema).every(([word, limit]) => keywordChecks[word]?.(limit, value, schema) === true);
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
      // The remaining types have the same names in JavaScript.
      return typeof value === type;
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Counts characters, not UTF-16 code units, because length limits count characters. */
function lengthOf(text: string): number {
  return [...text].length;
}
