import { asObject, asObjectOrEmpty, asObjects, isObject, type JsonObject } from '../../lib/json.ts';
import type { DefaultRow, LimitRow, MemberRow, Row, TextRow, WordRow } from './table.ts';

/** Differences between the profiles inside a value: of its members, of the items of a list, or of the value itself. */
export interface Shape {
  readonly members: ReadonlyMap<string, Shape>;
  readonly items?: Shape;
  readonly renamed: readonly MemberRow[];
  readonly words: readonly WordRow[];
  /** True when the value is a number in the specification and a text in the profile. */
  readonly isText: boolean;
  /** Members that requests may leave out. */
  readonly defaults: readonly DefaultRow[];
  /** Members to which requests may give values beyond the limits of the specification. */
  readonly limits: readonly LimitRow[];
}

/** Differences by schema. They apply wherever the schema is referred to. */
export type Differences = Map<JsonObject, Shape>;

type ValueRow = MemberRow | WordRow | TextRow | DefaultRow | LimitRow;

/** Returns the rows about the bodies of an operation, in one direction. */
export function rowsOf(rows: readonly Row[], operation: string, direction: 'request' | 'answer'): readonly ValueRow[] {
  const path = operation.slice(operation.indexOf(' ') + 1);
  return rows.filter((row): row is ValueRow => {
    if (row.differs === 'member' || row.differs === 'word' || row.differs === 'text')
      return row.at.some((pattern) => covers(pattern, path));
    return (row.differs === 'default' || row.differs === 'limit') && isRequestOf(row, operation, direction);
  });
}

function isRequestOf({ operations }: DefaultRow | LimitRow, operation: string, direction: string): boolean {
  return direction === 'request' && operations.includes(operation);
}

/** Whether a pattern matches a path. `/a/*` matches `/a` and all paths below it. */
function covers(pattern: string, path: string): boolean {
  if (!pattern.endsWith('/*')) return pattern === path;
  const base = pattern.slice(0, -2);
  return path === base || path.startsWith(`${base}/`);
}

/**
 * Finds the rows that apply inside values of a schema. Members that no schema declares belong to the users and are not
 * translated.
 */
export function shapeOf(
  schema: JsonObject,
  rows: readonly ValueRow[],
  schemas: JsonObject,
  found: Differences,
): Shape | undefined {
  const known = found.get(schema);
  if (known !== undefined) return known;
  // Ends the recursion when a schema refers to itself.
  found.set(schema, noDifferences);
  const shape = findShape(schema, rows, schemas, found);
  if (shape === undefined) found.delete(schema);
  else found.set(schema, shape);
  return shape;
}

/** Shape without differences. */
export const noDifferences: Shape = {
  ...{ members: new Map(), renamed: [], words: [], isText: false },
  ...{ defaults: [], limits: [] },
};

function findShape(
  schema: JsonObject,
  rows: readonly ValueRow[],
  schemas: JsonObject,
  found: Differences,
): Shape | undefined {
  const inner = (next: JsonObject) => shapeOf(next, rows, schemas, found);
  const reference = schema['$ref'];
  if (typeof reference === 'string') return inner(asObject(schemas[reference.split('/').at(-1) ?? '']));
  const properties = asObjectOrEmpty(schema['properties']);
  const members = new Map<string, Shape>();
  for (const [name, property] of Object.entries(properties)) {
    const shape = withLeaf(inner(asObject(property)), name, rows);
    if (shape !== undefined) members.set(name, shape);
  }
  const items = isObject(schema['items']) ? inner(asObject(schema['items'])) : undefined;
  const own = {
    ...noDifferences,
    members,
    renamed: rows.filter((row): row is MemberRow => row.differs === 'member' && row.ours in properties),
    defaults: rows.filter((row): row is DefaultRow => row.differs === 'default' && row.member in properties),
    limits: rows.filter((row): row is LimitRow => row.differs === 'limit' && row.member in properties),
    ...(items === undefined ? {} : { items }),
  };
  const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) =>
    asObjects(schema[keyword] ?? []).flatMap((part) => inner(part) ?? []),
  );
  return [...(differs(own) ? [own] : []), ...parts].reduce<Shape | undefined>(merged, undefined);
}

function differs({ members, items, renamed, defaults, limits }: Shape): boolean {
  return members.size > 0 || items !== undefined || [renamed, defaults, limits].some((found) => found.length > 0);
}

/** Adds the differences of a member's own value, which rows declare by the name of the member. */
function withLeaf(shape: Shape | undefined, name: string, rows: readonly ValueRow[]): Shape | undefined {
  const words = rows.filter((row): row is WordRow => row.differs === 'word' && row.member === name);
  const isText = rows.some((row) => row.differs === 'text' && row.member === name);
  return words.length === 0 && !isText ? shape : { ...(shape ?? noDifferences), words, isText };
}

function merged(one: Shape | undefined, other: Shape): Shape {
  if (one === undefined) return other;
  const members = new Map(one.members);
  for (const [name, shape] of other.members) members.set(name, merged(members.get(name), shape));
  const items = other.items === undefined ? one.items : merged(one.items, other.items);
  return {
    members,
    renamed: [...new Set([...one.renamed, ...other.renamed])],
    words: [...new Set([...one.words, ...other.words])],
    isText: one.isText || other.isText,
    defaults: [...new Set([...one.defaults, ...other.defaults])],
    limits: [...new Set([...one.limits, ...other.limits])],
    ...(items === undefined ? {} : { items }),
  };
}
