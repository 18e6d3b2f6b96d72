import { isObject, type Json, type JsonObject } from '../../lib/json.ts';
import type { Kind } from '../declare/kind.ts';
import type { Registry } from '../declare/registry.ts';
import type { AnyField, Fields } from '../schema/field.ts';
import { entriesOf } from '../schema/field-search.ts';

/** Where a schema refers to the schemas of other kinds, such as the components of an OpenAPI document. */
export interface SchemaNames {
  /** Returns the schema of a kind's response. */
  response(kind: string): JsonObject;
  /** Returns the schema of a kind's summary, with which responses of other kinds show its objects. */
  summary(kind: string): JsonObject;
}

/** Returns the JSON Schema of a kind's response: the id, all fields, inline children and computed members. */
export function responseSchema(registry: Registry, kind: Kind, names: SchemaNames): JsonObject {
  const fields = Object.fromEntries(entriesOf(kind.spec).filter(([name]) => name !== kind.parent?.field));
  const own = fieldsSchema(fields, names);
  const children = registry
    .inlineChildrenOf(kind.name)
    .map(({ child, member }) => [member, childrenSchema(child, names)] as const);
  return {
    type: 'object',
    description: kind.doc,
    required: [
      ...(hasId(kind) ? ['id'] : []),
      ...own.required,
      ...children.map(([name]) => name),
      ...requiredComputed(kind).filter((name) => !own.required.includes(name)),
    ],
    properties: {
      ...(hasId(kind) ? { id: idSchema(kind) } : {}),
      ...own.properties,
      ...Object.fromEntries(children),
      ...computedSchemas(kind),
    },
  };
}

/** Returns the JSON Schema of a kind's summary, with which responses of other kinds show its objects. */
export function summarySchema(kind: Kind): JsonObject {
  const members = kind.summary ?? ['id', 'name'];
  const computed = computedSchemas(kind);
  const schemaOf = (name: string): Json => {
    if (name === 'id') return idSchema(kind);
    const field = kind.spec[name];
    return computed[name] ?? { type: 'string', description: field?.doc ?? 'The display name.' };
  };
  return {
    type: 'object',
    description: `Summary of an object of kind ${kind.name}.`,
    required: [...members],
    properties: Object.fromEntries(members.map((name) => [name, schemaOf(name)])),
  };
}

/** Checks whether responses show an id. A kind with a single object does not need one. */
function hasId(kind: Kind): boolean {
  return kind.single !== true || kind.ids !== undefined;
}

function idSchema({ name, ids }: Pick<Kind, 'name'> & { readonly ids?: Kind['ids'] }): JsonObject {
  return { type: ids ?? 'string', description: `The id of the object of kind ${name}.` };
}

function childrenSchema(child: Kind, names: SchemaNames): JsonObject {
  const items = child.parent?.answer === 'ids' ? idSchema(child) : names.response(child.name);
  return { type: 'array', description: child.doc, items };
}

function computedSchemas(kind: Kind): JsonObject {
  return Object.fromEntries(
    Object.entries(kind.computed).map(([name, { schema, doc }]) => [name, { ...schema, description: doc }]),
  );
}

/** Returns the names of the computed members that every response contains. */
function requiredComputed({ computed }: Kind): readonly string[] {
  return Object.entries(computed)
    .filter(([, { optional, countsAccess }]) => optional !== true && countsAccess !== true)
    .map(([name]) => name);
}

interface FieldsSchema {
  readonly required: readonly string[];
  readonly properties: JsonObject;
}

function fieldsSchema(fields: Fields, names: SchemaNames): FieldsSchema {
  const entries = entriesOf(fields).filter(
    ([, field]) => field.hidden !== true && (field.type !== 'secret' || field.read !== 'never'),
  );
  return {
    required: entries.filter(([, field]) => isAlwaysShown(field)).map(([name]) => name),
    properties: Object.fromEntries(
      entries.map(([name, field]) => [name, { ...valueSchema(field, names), description: field.doc }]),
    ),
  };
}

/**
 * Checks whether responses always contain the field. An unset text or `ref` is shown as `""`. Any other field is absent
 * when it has no value, or when it is empty and empty values are omitted.
 */
function isAlwaysShown(field: AnyField): boolean {
  if (field.omitEmpty !== undefined || field.omitUnlessGiven === true) return false;
  if (field.type === 'secret') return field.required === true || field.read === 'empty';
  const hasDefault = field.default !== undefined || field.documentDefault !== undefined;
  return field.required === true || hasDefault || field.type === 'ref' || field.type === 'string';
}

function valueSchema(field: AnyField, names: SchemaNames): JsonObject {
  switch (field.type) {
    case 'string':
    case 'integer':
    case 'boolean':
      return { type: field.type };
    case 'enum':
      return { type: 'string', enum: field.values };
    case 'ref':
    case 'refByType':
      return { type: 'string' };
    case 'refs':
      return { type: 'array', items: elementSchema(field, names) };
    case 'members':
      return {
        type: 'array',
        items: object(['id', 'name'], {
          id: idSchema({ name: field.kind }),
          name: { type: 'string', description: 'The display name.' },
        }),
      };
    case 'typedRef':
      return object(['id', 'type'], {
        id: { type: 'string' },
        type: { type: 'string', enum: Object.keys(field.kinds) },
      });
    case 'secret':
      return { type: 'string' };
    case 'map':
    case 'refMap':
      return { type: 'object', additionalProperties: valueSchema(field.of, names) };
    case 'list':
      return { type: 'array', items: valueSchema(field.of, names) };
    case 'keyed':
      return { type: 'array', items: entrySchema(field, names) };
    case 'json':
      return field.schema;
    case 'object':
      return sectionSchema(field, names);
    default:
      return unreachable(field);
  }
}

function elementSchema(field: Extract<AnyField, { readonly type: 'refs' }>, names: SchemaNames): JsonObject {
  if (field.answer === 'ids') return { type: 'string' };
  return field.answer === 'full' ? names.response(field.kind) : names.summary(field.kind);
}

function sectionSchema(field: Extract<AnyField, { readonly type: 'object' }>, names: SchemaNames): JsonObject {
  const { required, properties } = fieldsSchema(field.fields, names);
  return object(required, { ...properties, ...unsupportedSchemas(field), ...field.readOnly });
}

/** Returns the schemas of members that are shown only to clients that gave them, and can only be off. */
function unsupportedSchemas({ unsupported = {} }: AnyField): JsonObject {
  return Object.fromEntries(
    Object.entries(unsupported).map(([name, { value, hint }]) => [
      name,
      { ...constantSchema(value), description: `Shown if it was given. Not available: ${hint}.` },
    ]),
  );
}

/** Returns the schema of a value that has only one form: a boolean, or an object of such values. */
function constantSchema(value: Json): JsonObject {
  if (!isObject(value)) return { type: typeof value, enum: [value] };
  const members = Object.entries(value as JsonObject).map(([name, member]) => [name, constantSchema(member)] as const);
  return object(
    members.map(([name]) => name),
    Object.fromEntries(members),
  );
}

function entrySchema(field: Extract<AnyField, { readonly type: 'keyed' }>, names: SchemaNames): JsonObject {
  const { required, properties } = fieldsSchema(field.fields, names);
  if (!field.ids) return object(required, properties);
  return object(['id', ...required], { id: { type: 'string', description: 'The id of the entry.' }, ...properties });
}

function object(required: readonly string[], properties: JsonObject): JsonObject {
  return { type: 'object', required, properties };
}

function unreachable(field: never): never {
  throw new Error(`no such field type: ${JSON.stringify(field)}`);
}
