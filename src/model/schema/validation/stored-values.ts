import { countMembers, isObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { aliasIndex } from '../../state/facets.ts';
import type { StoredObject } from '../../state/object.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { entriesStep, type SchemaPath } from './schema-path.ts';

/** Location of a value in a spec: its path in the declarations and its JSON pointer. */
export interface ValueLocation {
  readonly path: SchemaPath;
  readonly pointer: string;
}

/**
 * Values that are stored already. Limits apply only to new values. A stored value counts only for its own field: another
 * field may have another format. It counts for all entries of the lists and maps around it, because stored entries are
 * sorted and named by ids, so that their JSON pointers differ from those of the input.
 */
export interface StoredValues {
  /** Whether the text or number is stored as the value of this field. */
  has(location: ValueLocation, value: string | number): boolean;
  /** Returns the number of entries of the longest stored list or map of this field, over all entries around it. */
  mostEntries(location: ValueLocation): number;
}

/** The stored values of an object that does not exist yet. */
export const noStoredValues: StoredValues = { has: () => false, mostEntries: () => 0 };

/** Returns the number of entries that a list or map may have: its limit, or as many as are stored. */
export function mostAllowed(limit: number, stored: StoredValues, location: ValueLocation): number {
  return Math.max(limit, stored.mostEntries(location));
}

/** Finds the stored values of the object that a document describes. `names`: its key and its previous keys. */
export type FindStored = (kind: string, names: readonly string[]) => StoredValues;

/**
 * Returns the stored values of one spec. The spec is searched at the first call, which is rare: only a value beyond a
 * limit needs it.
 */
export function createStoredValues(spec: JsonObject | undefined): StoredValues {
  return storedValuesIn(() => (spec === undefined ? [] : [spec]));
}

/**
 * Returns a function that finds stored values for documents. Which object a document describes is decided only later. If
 * no object has or had the key, the document may adopt any unmanaged object. A child with a document of its own is found
 * by its parent, so all objects of its kind count. For inline children, the children of the parent's objects count.
 */
export function createStoredFinder(snapshot: Snapshot): FindStored {
  const known = new Map<string, StoredValues>();
  const valuesOf = (objects: () => readonly StoredObject[]) =>
    storedValuesIn(() => objects().map((object) => documentSpecOf(snapshot, object)));
  return (kind, names) => {
    const ofKind = known.get(kind) ?? valuesOf(() => candidatesOf(snapshot, kind));
    known.set(kind, ofKind);
    const own = () => names.flatMap((name) => objectsNamed(snapshot, kind, name));
    const ofObject = valuesOf(own);
    const values = () => (own().length > 0 ? ofObject : ofKind);
    return {
      has: (location, value) => values().has(location, value),
      mostEntries: (location) => values().mostEntries(location),
    };
  };
}

/** Returns the spec of an object together with its inline children, as in its document. */
function documentSpecOf(snapshot: Snapshot, { id, kind, spec }: StoredObject): JsonObject {
  const children = snapshot.registry
    .inlineChildrenOf(kind)
    .map(({ child, member }) => [member, snapshot.childrenOf(id, child.name).map((object) => object.spec)] as const);
  return { ...spec, ...Object.fromEntries(children) };
}

/** Returns the objects that a document may describe although they have another key. */
function candidatesOf(snapshot: Snapshot, kind: string): readonly StoredObject[] {
  const objects = snapshot.ofKind(kind);
  if (snapshot.registry.get(kind).parent !== undefined) return objects;
  return objects.filter(({ owner, declared }) => owner === undefined && declared.length === 0);
}

/** Returns the objects that have a key or had it before. */
function objectsNamed(snapshot: Snapshot, kind: string, key: string): readonly StoredObject[] {
  const objects = [snapshot.findByKey(kind, key), ...snapshot.lookUp(kind, aliasIndex, key)];
  return objects.filter((object) => object !== undefined);
}

/** The stored values of one field. */
interface FieldValues {
  readonly values: ReadonlySet<Json>;
  readonly mostEntries: number;
}

function storedValuesIn(specs: () => readonly JsonObject[]): StoredValues {
  const known = new Map<string, FieldValues>();
  const find = (path: SchemaPath): FieldValues => {
    const name = path.join('/');
    const found = known.get(name) ?? findValues(specs(), path);
    known.set(name, found);
    return found;
  };
  return {
    has: ({ path }, value) => find(path).values.has(value),
    mostEntries: ({ path }) => find(path).mostEntries,
  };
}

function findValues(specs: readonly JsonObject[], path: SchemaPath): FieldValues {
  let values: readonly Json[] = specs;
  for (const step of path) values = values.flatMap((value) => valuesIn(value, step));
  const mostEntries = values.reduce<number>((most, value) => Math.max(most, sizeOf(value)), 0);
  return { values: new Set(values), mostEntries };
}

/** Returns the values to which one step of a path leads. */
function valuesIn(value: Json, step: string): readonly Json[] {
  if (step === entriesStep) return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  const member = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return member === undefined ? [] : [member];
}

function sizeOf(value: Json): number {
  return typeof value === 'object' && value !== null ? countMembers(value) : 0;
}
