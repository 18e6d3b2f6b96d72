import { isObject, type Json } from '../../lib/json.ts';
import type { Registry } from '../../model/declare/registry.ts';
import { ignoredMembers, ignoredMetadata } from '../../model/document.ts';
import { documentFields } from '../../model/lower/shape.ts';
import type { AnyField, Fields } from '../../model/schema/field.ts';
import { entriesOf } from '../../model/schema/field-search.ts';
import { describeForeignObject } from '../foreign-value.ts';
import { isList } from '../stated.ts';

/** Description of one value in a document, as far as the formatter needs it. */
export interface Shape {
  /** Members by name, in the order in which they are written. */
  readonly members?: Readonly<Record<string, Shape>>;
  /** Whether members with other names are allowed. */
  readonly allowsOtherMembers?: boolean;
  /** Current names of members, by former name. */
  readonly formerNames?: Readonly<Record<string, string>>;
  /** Shape of the items of a list, and of the members that `members` does not name. */
  readonly defaultShape?: Shape;
  /** Shapes of the items of a list, when the items differ. */
  readonly items?: readonly Shape[];
  /** Allowed values of an enum. */
  readonly allowedValues?: readonly string[];
  /** Current values of an enum, by the name that other systems use for them. */
  readonly foreignValues?: Readonly<Record<string, string>> | undefined;
}

/** Returns the shape of a document, or of a list of documents. For an unknown kind, only the envelope has a shape. */
export function documentShape(registry: Registry, value: Json): Shape {
  if (!isObject(value)) return leaf;
  const { kind: name, items } = value;
  if (isList(value)) {
    const shapes = Array.isArray(items) ? items.map((item: Json) => documentShape(registry, item)) : [];
    return { members: { apiVersion: leaf, kind: leaf, metadata: texts, items: { items: shapes } } };
  }
  if (describeForeignObject(value) !== undefined) return leaf;
  const kind = typeof name === 'string' ? registry.find(name) : undefined;
  const spec = kind === undefined ? leaf : shapeOfFields(documentFields(registry, kind));
  return { members: { apiVersion: leaf, kind: leaf, metadata, spec, ...leaves(ignoredMembers) } };
}

/** Returns the shape of a member or of an item. */
export function shapeWithin({ members = {}, defaultShape = leaf, items = [] }: Shape, step: string | number): Shape {
  if (typeof step === 'number') return items[step] ?? defaultShape;
  return Object.hasOwn(members, step) ? (members[step] ?? leaf) : defaultShape;
}

const leaf: Shape = {};
const texts: Shape = { allowsOtherMembers: true };

function leaves(names: readonly string[]): Readonly<Record<string, Shape>> {
  return Object.fromEntries(names.map((name) => [name, leaf]));
}

/** `namespace` follows `name`, as in the output of `kubectl`. */
const metadata: Shape = {
  members: {
    ...leaves(['name', 'namespace', 'previousNames']),
    labels: texts,
    annotations: texts,
    ...leaves(ignoredMetadata),
  },
};

function shapeOfFields(fields: Fields): Shape {
  const entries = entriesOf(fields);
  const former = entries.flatMap(([name, { foreignNames = [] }]) => foreignNames.map((old) => [old, name] as const));
  return {
    members: Object.fromEntries(entries.map(([name, field]) => [name, shapeOf(field)])),
    formerNames: Object.fromEntries(former),
  };
}

function shapeOf(field: AnyField): Shape {
  switch (field.type) {
    case 'object':
      return shapeOfFields(field.fields);
    case 'keyed':
      return { defaultShape: shapeOfFields(field.fields) };
    case 'list':
      return { defaultShape: shapeOf(field.of) };
    case 'map':
    case 'refMap':
      return { allowsOtherMembers: true, defaultShape: shapeOf(field.of) };
    case 'enum':
      return { allowedValues: field.values, foreignValues: field.foreignValues };
    case 'typedRef':
      return { members: { id: leaf, type: { allowedValues: Object.keys(field.kinds) } } };
    default:
      return leaf;
  }
}
