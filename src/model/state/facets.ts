import type { Kind } from '../declare/kind.ts';
import type { Registry } from '../declare/registry.ts';
import { mentionsOf } from '../schema/references.ts';
import { changedMembers, membershipFields } from './members.ts';
import type { StoredObject } from './object.ts';

/** One stored reference of an object. `origin` is empty except for memberships. */
export interface Reference {
  readonly field: string;
  readonly to: string;
  readonly origin: string;
}

/** Values by which the database and the snapshot index an object. Computed from the object alone. */
export interface Facets {
  /** Values that must be unique within the kind, by rule. The rule `key` is the object's key. */
  readonly keys: readonly { readonly rule: string; readonly value: string }[];
  /** Values by which rules look objects up, by index. */
  readonly indexes: readonly { readonly index: string; readonly value: string }[];
  /** Every reference except memberships, of which there may be very many; see `changedReferences`. */
  readonly links: readonly Reference[];
  /** Every reference, including memberships. Computed at the first access. */
  readonly references: readonly Reference[];
  /** Directory entries, by which the object is found across accounts. */
  readonly entries: readonly { readonly kind: string; readonly value: string }[];
}

/** Name of the index of former keys of objects. */
export const aliasIndex = 'alias';

/** Name of the index of objects with overrides. All objects of a kind have one entry, with an empty value. */
export const overrideIndex = 'override';

/** Field name of the reference row from a child to its parent. */
export const parentField = 'parent';

/** Returns the key of an index entry. */
export function indexKey(kind: string, index: string, value: string): string {
  return `${kind}\0${index}\0${value}`;
}

/** Returns the key of a reference count. */
export function countKey(id: string, kind: string, field: string): string {
  return `${id}\0${kind}\0${field}`;
}

/** Names of the parts of a state that can be read, and change, separately. */
export const partKeys = {
  object: (id: string) => `o\0${id}`,
  /** Set of objects of a kind, with their content. */
  objectsOf: (kind: string) => `k\0${kind}`,
  /** Number of objects of a kind. */
  countOf: (kind: string) => `n\0${kind}`,
  entry: (key: string) => `i\0${key}`,
  referrers: (id: string) => `r\0${id}`,
  count: (key: string) => `c\0${key}`,
} as const;

const noEntries: readonly never[] = [];

const facetsCache = new WeakMap<StoredObject, Facets>();

/** Returns the facets of an object. They are cached, because objects are never edited. */
export function facetsOf(registry: Registry, object: StoredObject): Facets {
  const present = facetsCache.get(object);
  if (present !== undefined) return present;
  const facets = buildFacets(registry, object);
  facetsCache.set(object, facets);
  return facets;
}

function buildFacets(registry: Registry, object: StoredObject): Facets {
  const kind = registry.get(object.kind);
  const keys = object.key === undefined ? [] : [{ rule: 'key', value: object.key }];
  if (kind.single === true) keys.push({ rule: 'single', value: 'one' });
  for (const [rule, unique] of Object.entries(kind.uniques)) {
    const value = unique.value(object);
    if (value !== undefined) keys.push({ rule, value });
  }
  const indexes = object.name === '' ? [] : [{ index: 'name', value: object.name }];
  for (const alias of object.aliases ?? []) indexes.push({ index: aliasIndex, value: alias });
  if (object.overrides !== undefined) indexes.push({ index: overrideIndex, value: '' });
  for (const [index, values] of Object.entries(kind.indexes)) {
    for (const value of values(object)) indexes.push({ index, value });
  }
  const links = linksOf(registry, object);
  let all: readonly Reference[] | undefined;
  return {
    // Copies the arrays to drop spare capacity: an array that grew reserves room for more, and each object of an
    // account has three.
    ...{ keys: keys.slice(), indexes: indexes.slice(), links: links.slice(), entries: entriesOf(kind, object) },
    get references() {
      all ??= [...links, ...changedReferences(registry, undefined, object).added];
      return all;
    },
  };
}

/** References that only one of two versions of an object has. */
export interface ChangedReferences {
  readonly added: readonly Reference[];
  readonly removed: readonly Reference[];
}

/** Returns the membership references in which two versions of an object differ. An absent version has none. */
export function changedReferences(
  registry: Registry,
  before: StoredObject | undefined,
  after: StoredObject | undefined,
): ChangedReferences {
  const come: Reference[] = [];
  const gone: Reference[] = [];
  for (const field of membershipFields(registry.get((after ?? before)?.kind ?? '').spec)) {
    for (const { id: to, was, is } of changedMembers(before, after, field)) {
      come.push(...is.filter((origin) => !was.includes(origin)).map((origin) => ({ field, to, origin })));
      gone.push(...was.filter((origin) => !is.includes(origin)).map((origin) => ({ field, to, origin })));
    }
  }
  return { added: come, removed: gone };
}

function entriesOf({ entries }: Kind, object: StoredObject): Facets['entries'] {
  if (entries === undefined) return noEntries;
  return Object.entries(entries).flatMap(([kind, read]) => {
    const values = [read(object) ?? []].flat();
    return values.filter((value) => value !== '').map((value) => ({ kind, value }));
  });
}

function linksOf(registry: Registry, object: StoredObject): readonly Reference[] {
  const kind = registry.get(object.kind);
  const found = new Map<string, Reference>();
  const add = (field: string, to: string) => found.set(`${field}\n${to}`, { field, to, origin: '' });
  if (object.parent !== undefined) add(parentField, object.parent);
  for (const mention of mentionsOf(kind.spec, object.spec)) {
    if (mention.field !== kind.parent?.field) add(mention.field, mention.text);
  }
  return [...found.values()];
}
