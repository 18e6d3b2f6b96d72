import type { JsonObject } from '../../lib/json.ts';
import { type AnyField, entriesOf, type Fields } from '../field.ts';
import type { Kind } from '../kind.ts';
import type { Registry } from '../registry.ts';

/** Where a schema is used. A document may leave out more than a request; a response leaves out nothing that has a value. */
export type Surface = 'document' | 'request';

/** JSON Schema of a kind's `spec` in documents (`allOf` free, no coercion, unknown members refused). */
export function specSchema(registry: Registry, kind: Kind, surface: Surface): JsonObject {
  const fields = fieldsOn(kind, surface);
  const schema = objectSchema(fields, surface) as {
    readonly properties: JsonObject;
    readonly required?: readonly string[];
  };
  if (surface === 'request') return { ...schema };
  const children = registry.childrenOf(kind.name);
  if (children.length === 0) return { ...schema };
  const inline = children.map((child) => [child.parent?.inline ?? '', inlineSchema(child)] as const);
  return { ...schema, properties: { ...schema.properties, ...Object.fromEntries(inline) } };
}

/** The fields that a surface accepts: over HTTP the parent stands in the path. */
export function fieldsOn(kind: Kind, surface: Surface): Fields {
  const parent = kind.parent?.field;
  return Object.fromEntries(
    entriesOf(kind.spec).filter(
      ([name, field]) =>
        !(surface === 'request' && name === parent) && !(surface === 'document' && field.access === 'updateOnly'),
    ),
  );
}

/** Children written inside their parent's document state everything but the parent. */
function inlineSchema(child: Kind): JsonObject {
  const fields = Object.fromEntries(entriesOf(child.spec).filter(([name]) => name !== child.parent?.field));
  return { type: 'array', description: child.doc, items: objectSchema(fields, 'document', { nameFromKey: false }) };
}

/** Schema of an object with these fields. In documents `name` may be left out, because `metadata.name` stands for it. */
function objectSchema(
  fields: Fields,
  surface: Surface,
  options: { readonly nameFromKey: boolean } = { nameFromKey: true },
): JsonObject {
  const required = entriesOf(fields)
    .filter(([name, field]) => field.required === true && !mayBeLeftOut(name, field, surface, options.nameFromKey))
    .map(([name]) => name);
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(entriesOf(fields).map(([name, field]) => [name, fieldSchema(field, surface)])),
    ...(required.length === 0 ? {} : { required }),
  };
}

function mayBeLeftOut(name: string, field: AnyField, surface: Surface, nameFromKey: boolean): boolean {
  return surface === 'document' && (field.documentDefault !== undefined || (name === 'name' && nameFromKey));
}

/** Schema of one field's value. */
function fieldSchema(field: AnyField, surface: Surface): JsonObject {
  const schema = shapeSchema(field, surface);
  return { ...schema, description: describe(field) };
}

function describe(field: AnyField): string {
  const unit = field.type === 'integer' && field.unit !== undefined ? ` In ${field.unit}.` : '';
  return `${field.doc}${unit}`;
}

function shapeSchema(field: AnyField, surface: Surface): JsonObject {
  switch (field.type) {
    case 'string':
      return bounded({ type: 'string' }, { minLength: field.minLength, maxLength: field.maxLength });
    case 'integer':
      return bounded({ type: 'integer' }, { minimum: field.minimum, maximum: field.maximum });
    case 'boolean':
      return { type: 'boolean' };
    case 'enum':
      return { type: 'string', enum: field.values };
    case 'ref':
      return { type: 'string', 'x-ref': field.kind };
    case 'refs':
      return bounded(
        { type: 'array', items: { type: 'string' }, 'x-ref': field.kind, 'x-merge': 'set' },
        { minItems: field.minItems },
      );
    case 'members':
      return { type: 'array', items: { type: 'string' }, 'x-ref': field.kind, 'x-merge': 'set' };
    case 'typedRef':
      return typedRefSchema(field.kinds);
    case 'refMap':
      return { type: 'object', additionalProperties: shapeSchema(field.of, surface), 'x-ref': field.kind };
    case 'list':
      return bounded(
        { type: 'array', items: shapeSchema(field.of, surface), 'x-merge': field.set ? 'set' : 'atomic' },
        { minItems: field.minItems, maxItems: field.maxItems },
      );
    case 'keyed':
      return keyedSchema(field, surface);
    case 'object':
      return objectSchema(field.fields, surface, { nameFromKey: false });
    default:
      return unreachable(field);
  }
}

function keyedSchema(field: Extract<AnyField, { readonly type: 'keyed' }>, surface: Surface): JsonObject {
  const entry = objectSchema(field.fields, surface, { nameFromKey: false }) as { readonly properties: JsonObject };
  const withId = field.ids && surface === 'request';
  const properties = withId
    ? {
        id: { type: 'string', description: 'Keeps the entry of this id, also when it is renamed.' },
        ...entry.properties,
      }
    : entry.properties;
  return bounded(
    { type: 'array', items: { ...entry, properties }, 'x-merge': `map(${field.key})` },
    { minItems: field.minItems },
  );
}

function typedRefSchema(kinds: Readonly<Record<string, string>>): JsonObject {
  return {
    type: 'object',
    additionalProperties: false,
    required: ['id', 'type'],
    properties: {
      id: { type: 'string', description: 'The object referred to.' },
      type: { type: 'string', enum: Object.keys(kinds), description: 'What kind of object it is.' },
    },
  };
}

function bounded(schema: JsonObject, bounds: Readonly<Record<string, number | undefined>>): JsonObject {
  const given = Object.entries(bounds).filter((entry): entry is [string, number] => entry[1] !== undefined);
  return { ...schema, ...Object.fromEntries(given) };
}

function unreachable(field: never): never {
  throw new Error(`no such field type: ${JSON.stringify(field)}`);
}
