import { isObject, type Json } from '../../lib/json.ts';
import type { Registry } from '../../model/declare/registry.ts';
import { ignoredMembers, ignoredMetadata } from '../../model/document.ts';
import { documentFields } from '../../model/lower/shape.ts';
import { type AnyField, entriesOf, type Fields } from '../../model/schema/field.ts';
import { foreignObject } from '../foreign-value.ts';
import { isList } from '../stated.ts';

/** What stands at one place of a document, as far as writing it matters. */
export interface Shape {
  /** Members by name, in the order in which they are written. */
  readonly members?: Readonly<Record<string, Shape>>;
  /** Whether there may be members of other names. */
  readonly open?: boolean;
  /** Names that members had before, with those of today. */
  readonly former?: Readonly<Record<string, string>>;
  /** The items of a list, and the values of members that `members` does not name. */
  readonly each?: Shape;
  /** The items of a list whose items differ. */
  readonly items?: readonly Shape[];
  /** The words that it may be. */
  readonly words?: readonly string[];
}

/** The shape of a document, or of a list of them; what is known of every document where there is no such kind. */
export function documentShape(registry: Registry, value: Json): Shape {
  if (!isObject(value)) return leaf;
  const { kind: name, items } = value;
  if (isList(value)) {
    const shapes = Array.isArray(items) ? items.map((item: Json) => documentShape(registry, item)) : [];
    return { members: { apiVersion: leaf, kind: leaf, metadata: texts, items: { items: shapes } } };
  }
  if (foreignObject(value) !== undefined) return leaf;
  const kind = typeof name === 'string' ? registry.find(name) : undefined;
  const spec = kind === undefined ? leaf : shapeOfFields(documentFields(registry, kind));
  return { members: { apiVersion: leaf, kind: leaf, metadata, spec, ...leaves(ignoredMembers) } };
}

/** The shape of a member or of an item. */
export function shapeWithin({ members = {}, each = leaf, items = [] }: Shape, step: string | number): Shape {
  if (typeof step === 'number') return items[step] ?? each;
  return Object.hasOwn(members, step) ? (members[step] ?? leaf) : each;
}

const leaf: Shape = {};
const texts: Shape = { open: true };

function leaves(names: readonly string[]): Readonly<Record<string, Shape>> {
  return Object.fromEntries(names.map((name) => [name, leaf]));
}

/** The namespace follows the name, as `kubectl` writes it. */
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
  const former = entries.flatMap(([name, { formerly = [] }]) => formerly.map((old) => [old, name] as const));
  return {
    members: Object.fromEntries(entries.map(([name, field]) => [name, shapeOf(field)])),
    former: Object.fromEntries(former),
  };
}

function shapeOf(field: AnyField): Shape {
  switch (field.type) {
    case 'object':
      return shapeOfFields(field.fields);
    case 'keyed':
      return { each: shapeOfFields(field.fields) };
    case 'list':
      return { each: shapeOf(field.of) };
    case 'map':
    case 'refMap':
      return { open: true, each: shapeOf(field.of) };
    case 'enum':
      return { words: field.values };
    case 'typedRef':
      return { members: { id: leaf, type: { words: Object.keys(field.kinds) } } };
    default:
      return leaf;
  }
}
