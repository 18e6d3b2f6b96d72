import type { Json, JsonObject } from '../../lib/json.ts';
import { schemaReference } from '../lower/openapi/operation.ts';
import type { AnyField, Fields } from '../schema/field.ts';
import { entriesOf } from '../schema/field-search.ts';
import { isRequired } from './fields.ts';

/**
 * Purpose of a schema. `check` validates prepared request bodies. `request` and `answer` describe bodies and answers in
 * the OpenAPI document.
 */
export type Purpose = 'check' | 'request' | 'answer';

/** Returns the JSON Schema of an object with these fields. */
export function schemaOfFields(fields: Fields, purpose: Purpose, doc = ''): JsonObject {
  const entries = entriesOf(fields);
  // A missing field with its own message (`missingHint`) is reported by `readBody`, not by the schema.
  const isLookedFor = (field: AnyField) =>
    isRequired(field) && (purpose !== 'check' || field.missingHint === undefined);
  const required = entries.filter(([, field]) => isLookedFor(field)).map(([name]) => name);
  return {
    type: 'object',
    ...described(doc, purpose),
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(entries.map(([name, field]) => [name, schemaOfField(field, purpose)])),
  };
}

/**
 * Returns the JSON Schema of a field's value. The description states the default in words, because client generators
 * treat a member with `default` as always present, and require it in requests.
 */
export function schemaOfField(field: AnyField, purpose: Purpose): JsonObject {
  const { default: fallback, doc } = field;
  const isStated = purpose === 'request' && isScalar(fallback);
  return {
    ...shapeOf(field, purpose),
    ...described(isStated ? `${doc} Default: ${JSON.stringify(fallback)}.`.trimStart() : doc, purpose),
  };
}

/** Returns the named schemas that a field refers to. */
export function namedSchemas(field: AnyField, purpose: Purpose): readonly (readonly [string, JsonObject])[] {
  switch (field.type) {
    case 'list':
    case 'map':
      return namedSchemas(field.of, purpose);
    case 'object': {
      const inner = Object.values(field.fields).flatMap((member) => namedSchemas(member, purpose));
      if (field.schema === undefined) return inner;
      return [[field.schema, schemaOfFields(field.fields, purpose, field.doc)], ...inner];
    }
    case 'json':
      return field.shownAs === undefined ? [] : namedSchemas(field.shownAs, purpose);
    default:
      return [];
  }
}

function shapeOf(field: AnyField, purpose: Purpose): JsonObject {
  switch (field.type) {
    case 'string': {
      const { format, minLength, maxLength } = field;
      const isFormatted = purpose !== 'check' && format?.jsonFormat !== undefined;
      return {
        type: 'string',
        ...(isFormatted ? { format: format.jsonFormat } : {}),
        ...(purpose === 'answer' ? {} : definedBounds({ minLength, maxLength })),
      };
    }
    case 'secret':
      return { type: 'string', ...definedBounds({ minLength: field.minLength, maxLength: field.maxLength }) };
    case 'integer':
      // A value above the maximum is clamped, not refused.
      return {
        type: 'integer',
        ...definedBounds({ minimum: field.minimum, maximum: field.clamp === true ? undefined : field.maximum }),
      };
    case 'boolean':
      return { type: 'boolean' };
    case 'enum':
      return { type: 'string', enum: field.values };
    case 'ref':
      return {
        type: 'string',
        ...(purpose === 'check' ? {} : { 'x-ref': field.kind }),
        ...(purpose !== 'answer' && isRequired(field) ? { minLength: 1 } : {}),
      };
    case 'list': {
      const bounds = purpose === 'answer' ? {} : definedBounds({ minItems: field.minItems, maxItems: field.maxItems });
      return { type: 'array', items: schemaOfField(field.of, purpose), ...bounds };
    }
    case 'refs': {
      const items = { type: 'string', ...(purpose === 'check' ? {} : { 'x-ref': field.kind }) };
      const bounds = purpose === 'answer' ? {} : definedBounds({ minItems: field.minItems, maxItems: field.maxItems });
      return { type: 'array', items, ...bounds };
    }
    case 'map': {
      const bounds = purpose === 'answer' ? {} : definedBounds({ maxProperties: field.maxItems });
      return { type: 'object', additionalProperties: schemaOfField(field.of, purpose), ...bounds };
    }
    case 'json':
      return field.shownAs === undefined || purpose === 'check' ? field.schema : schemaOfField(field.shownAs, purpose);
    case 'object':
      return field.schema === undefined || purpose === 'check'
        ? schemaOfFields(field.fields, purpose)
        : schemaReference(field.schema);
    default:
      throw new Error(
        `fields of type ${field.type} are allowed only in kinds; operations declare references with \`ref\``,
      );
  }
}

function described(doc: string, purpose: Purpose): JsonObject {
  return purpose === 'check' || doc === '' ? {} : { description: doc };
}

function definedBounds(bounds: Readonly<Record<string, number | undefined>>): JsonObject {
  const present = Object.entries(bounds).filter((entry): entry is [string, number] => entry[1] !== undefined);
  return Object.fromEntries(present);
}

function isScalar(value: Json | undefined): value is string | number | boolean {
  return value !== undefined && typeof value !== 'object';
}
