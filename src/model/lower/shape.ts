import type { JsonObject } from '../../lib/json.ts';
import type { Kind } from '../declare/kind.ts';
import type { Registry } from '../declare/registry.ts';
import { type Access, type AnyField, type Fields, isEmpty, maxLengths } from '../schema/field.ts';
import { entriesOf } from '../schema/field-search.ts';

/** Where a schema is used: in a document, or over HTTP in a create or a replace. A document may omit more members. */
export type Surface = 'document' | 'request' | 'replace';

/** Returns the JSON Schema of a kind's `spec`. It has no `allOf`, needs no coercion and refuses unknown members. */
export function specSchema(registry: Registry, kind: Kind, surface: Surface): JsonObject {
  const fields = fieldsOn(kind, surface);
  const schema = objectSchema(fields, surface) as {
    readonly properties: JsonObject;
    readonly required?: readonly string[];
  };
  if (surface === 'replace' && kind.merge === true) return { ...schema, required: [] };
  if (surface !== 'document') return { ...schema };
  const children = registry.inlineChildrenOf(kind.name);
  if (children.length === 0) return { ...schema };
  const inline = children.map(({ child, member }) => [member, inlineSchema(child)] as const);
  return { ...schema, properties: { ...schema.properties, ...Object.fromEntries(inline) } };
}

/**
 * Checks whether a document may omit the spec with this schema. The document then states the object and none of its
 * fields.
 */
export function isSpecOptional(spec: JsonObject): boolean {
  return spec['required'] === undefined;
}

/**
 * Returns the fields that a surface accepts. Over HTTP the reference to the parent is omitted, because the path
 * contains it.
 */
export function fieldsOn(kind: Kind, surface: Surface): Fields {
  const parent = kind.parent?.field;
  const hidden = hiddenAccess[surface];
  const inputs = surface === 'document' ? {} : (kind.inputs ?? {});
  return Object.fromEntries(
    entriesOf({ ...kind.spec, ...inputs }).filter(
      ([name, field]) =>
        !(surface !== 'document' && name === parent) &&
        (isEchoed(field, surface) || !hidden.includes(field.access ?? 'declared')),
    ),
  );
}

/** Checks whether a replace contains the field although it cannot change it. */
export function isEchoed(field: AnyField, surface: Surface): boolean {
  return surface === 'replace' && field.access === 'createOnly' && field.echoed === true;
}

/** Returns the fields of a document's spec, including the children that it contains. */
export function documentFields(registry: Registry, kind: Kind): Fields {
  const children = registry.inlineChildrenOf(kind.name).map(({ child, member }): readonly [string, AnyField] => {
    const field = {
      type: 'keyed',
      key: child.nameField,
      fields: inlineFields(child),
      ids: false,
      doc: child.doc,
    } as const;
    return [member, field];
  });
  return { ...fieldsOn(kind, 'document'), ...Object.fromEntries(children) };
}

const hiddenAccess: Readonly<Record<Surface, readonly Access[]>> = {
  document: ['server'],
  request: ['server', 'document', 'key', 'updateOnly'],
  replace: ['server', 'document', 'key', 'createOnly'],
};

/** Returns the fields of a child inside its parent's document: all except the reference to the parent. */
function inlineFields(child: Kind): Fields {
  return Object.fromEntries(entriesOf(child.spec).filter(([name]) => name !== child.parent?.field));
}

function inlineSchema(child: Kind): JsonObject {
  const items = objectSchema(inlineFields(child), 'document', { nameFromKey: false });
  return { type: 'array', description: child.doc, items };
}

/**
 * Returns the schema of an object with these fields. In documents `name` may be omitted, because `metadata.name` is
 * used instead.
 */
function objectSchema(
  fields: Fields,
  surface: Surface,
  options: { readonly nameFromKey: boolean } = { nameFromKey: true },
): JsonObject {
  const required = entriesOf(fields)
    .filter(
      ([name, field]) => isRequired(field, surface) && !isOptionalInDocument(name, field, surface, options.nameFromKey),
    )
    .map(([name]) => name);
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(entriesOf(fields).map(([name, field]) => [name, fieldSchema(field, surface)])),
    ...(required.length === 0 ? {} : { required }),
  };
}

/**
 * Checks whether a field is required. A field that only a replace may write cannot be required in a document, because a
 * document also creates the object.
 */
function isRequired(field: AnyField, surface: Surface): boolean {
  return field.required === true && !(surface === 'document' && field.access === 'updateOnly');
}

function isOptionalInDocument(name: string, field: AnyField, surface: Surface, nameFromKey: boolean): boolean {
  return surface === 'document' && (field.documentDefault !== undefined || (name === 'name' && nameFromKey));
}

function fieldSchema(field: AnyField, surface: Surface): JsonObject {
  // A field that cannot be changed accepts any value.
  const schema = isEchoed(field, surface) ? {} : shapeSchema(field, surface);
  return { ...schema, description: describe(field, surface) };
}

/**
 * Returns the description of a field, with its default in words. Kubernetes would fill in a `default` of the schema,
 * which would then count as stated.
 */
function describe(field: AnyField, surface: Surface): string {
  const unit = field.type === 'integer' && field.unit !== undefined ? ` In ${field.unit}.` : '';
  const value =
    surface === 'document' ? (field.documentDefault ?? (field.required ? undefined : field.default)) : undefined;
  return `${field.doc}${unit}${isEmpty(value) ? '' : ` Default: ${JSON.stringify(value)}.`}`;
}

function shapeSchema(field: AnyField, surface: Surface): JsonObject {
  switch (field.type) {
    case 'string':
      return withBounds({ type: 'string' }, { minLength: field.minLength, maxLength: field.maxLength });
    case 'integer':
      return withBounds({ type: 'integer' }, integerBounds(field, surface));
    case 'boolean':
      return { type: 'boolean' };
    case 'enum':
      return { type: 'string', enum: field.values };
    case 'ref':
      return { type: 'string', 'x-ref': field.kind };
    case 'refByType':
      return { type: 'string', minLength: 1, 'x-ref': kindNames(field.kinds) };
    case 'refs':
      return withBounds(
        { type: 'array', items: { type: 'string' }, 'x-ref': field.kind, 'x-merge': 'set' },
        { minItems: field.minItems, maxItems: field.maxItems },
      );
    case 'members':
      return { type: 'array', items: { type: 'string' }, 'x-ref': field.kind, 'x-merge': 'set' };
    case 'typedRef':
      return typedRefSchema(field.kinds);
    case 'secret':
      return surface === 'document'
        ? { ...secretSchema(field), ...(field.read === 'shown' ? { 'x-literal': true } : {}) }
        : withBounds(field.acceptsObject === true ? textOrTexts : { type: 'string' }, {
            ...{ minLength: field.minLength, maxLength: field.maxLength ?? maxLengths.secret },
          });
    case 'map':
      return withBounds(mapSchema(field, surface), { maxProperties: field.maxItems });
    case 'refMap':
      return withBounds(
        { type: 'object', additionalProperties: shapeSchema(field.of, surface), 'x-ref': field.kind },
        { maxProperties: field.maxItems },
      );
    case 'list':
      return withBounds(
        { type: 'array', items: shapeSchema(field.of, surface), 'x-merge': field.set ? 'set' : 'atomic' },
        { minItems: field.minItems, maxItems: field.maxItems },
      );
    case 'keyed':
      return keyedSchema(field, surface);
    case 'json':
      return field.schema;
    case 'object':
      return {
        ...objectSchema(field.fields, surface, { nameFromKey: false }),
        ...(field.atomic === true ? { 'x-merge': 'atomic' } : {}),
      };
    default:
      return unreachable(field);
  }
}

/** Returns the limits of an integer on a surface. */
export function integerBounds(
  { minimum, maximum, inDocuments }: Extract<AnyField, { readonly type: 'integer' }>,
  surface: Surface,
): { readonly minimum: number | undefined; readonly maximum: number | undefined } {
  return { minimum, maximum, ...(surface === 'document' ? inDocuments : {}) };
}

/** A string, or an object of strings that is stored as JSON text. */
const textOrTexts: JsonObject = { type: ['string', 'object'], additionalProperties: { type: 'string' } };

function keyedSchema(field: Extract<AnyField, { readonly type: 'keyed' }>, surface: Surface): JsonObject {
  const entry = objectSchema(field.fields, surface, { nameFromKey: false }) as { readonly properties: JsonObject };
  const withId = field.ids && surface !== 'document';
  const properties = withId
    ? {
        id: { type: 'string', description: 'Id of an existing entry, to keep that entry even when it is renamed.' },
        ...entry.properties,
      }
    : entry.properties;
  return withBounds(
    { type: 'array', items: { ...entry, properties }, 'x-merge': `map(${field.key})` },
    { minItems: field.minItems, maxItems: field.maxItems },
  );
}

/**
 * Returns the schema of a secret in a document, which names the origin of the value. A literal is refused later, unless
 * it is allowed.
 */
function secretSchema({
  minLength,
  maxLength,
}: {
  readonly minLength?: number;
  readonly maxLength?: number;
}): JsonObject {
  const origins = Object.fromEntries(valueOrigins.map((origin) => [origin, { type: 'string', minLength: 1 }]));
  const valueFrom = {
    type: 'object',
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 1,
    properties: { ...origins, [secretOrigin]: secretKeySchema, stored: { type: 'boolean', enum: [true] } },
  };
  const schema = {
    type: ['string', 'object'],
    required: ['valueFrom'],
    additionalProperties: false,
    properties: { valueFrom },
  };
  return withBounds(schema, { minLength, maxLength: maxLength ?? maxLengths.secret });
}

/** Origins of a secret in a document: an environment variable or a file. */
export const valueOrigins = ['envRef', 'fileRef'] as const;

/** Origin of a secret in a Kubernetes resource: a key of a Secret in its namespace. */
export const secretOrigin = 'secretKeyRef';

const secretKeySchema: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'key'],
  properties: {
    name: {
      type: 'string',
      minLength: 1,
      maxLength: 253,
      description: 'Name of the Secret, in the namespace of the resource.',
    },
    key: { type: 'string', minLength: 1, maxLength: 253, description: 'Key in the Secret.' },
  },
  description: 'Key of a Secret. Allowed only in resources of a cluster.',
};

function mapSchema(field: Extract<AnyField, { readonly type: 'map' }>, surface: Surface): JsonObject {
  const mayGo = surface === 'replace' && field.merge === true;
  const value = (of: AnyField): JsonObject => {
    const schema = shapeSchema(of, surface);
    return mayGo ? { ...schema, type: [...[schema['type'] as string | readonly string[]].flat(), 'null'] } : schema;
  };
  // Requests write secrets like all other members, except secrets that they may also write as objects.
  const stated = Object.entries(field.secrets ?? {}).filter(
    ([, member]) => surface === 'document' || (member.type === 'secret' && member.acceptsObject === true),
  );
  const properties = Object.fromEntries(stated.map(([key, member]) => [key, value(member)]));
  return { type: 'object', ...(stated.length === 0 ? {} : { properties }), additionalProperties: value(field.of) };
}

function typedRefSchema(kinds: Readonly<Record<string, string>>): JsonObject {
  return {
    type: 'object',
    additionalProperties: false,
    required: ['id', 'type'],
    properties: {
      id: { type: 'string', description: 'The object referred to.', 'x-ref': kindNames(kinds) },
      type: { type: 'string', enum: Object.keys(kinds), description: 'Type of the object.' },
    },
  };
}

/** Lists the kinds that a reference may have. */
function kindNames(kinds: Readonly<Record<string, string>>): string {
  return [...new Set(Object.values(kinds))].join(' or ');
}

function withBounds(schema: JsonObject, bounds: Readonly<Record<string, number | undefined>>): JsonObject {
  const given = Object.entries(bounds).filter((entry): entry is [string, number] => entry[1] !== undefined);
  return { ...schema, ...Object.fromEntries(given) };
}

function unreachable(field: never): never {
  throw new Error(`no such field type: ${JSON.stringify(field)}`);
}
