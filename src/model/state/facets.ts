import type { Kind } from '../declare/kind.ts';
import type { Registry } from '../declare/registry.ts';
import { mentionsOf } from '../schema/references.ts';
import { membershipFields, movedMembers } from './members.ts';
import type { StoredObject } from './object.ts';

/** One stored reference of an object. `origin` is empty but for membership. */
export interface Reference {
  readonly field: string;
  readonly to: string;
  readonly origin: string;
}

/** What the store and the snapshot index about an object, worked out from its spec alone. */
export interface Facets {
  /** Values that must be unique per kind: rule to value. The rule `key` is the object's key. */
  readonly keys: readonly { readonly rule: string; readonly value: string }[];
  /** Values for look-ups by rules: index to value. */
  readonly indexes: readonly { readonly index: string; readonly value: string }[];
  /** Every reference but membership, of which there may be very many: see `movedReferences`. */
  readonly links: readonly Reference[];
  /** Every reference; the list is made when it is read. */
  readonly references: readonly Reference[];
  /** Entries of the directory, by which the object is found across accounts. */
  readonly entries: readonly { readonly kind: string; readonly value: string }[];
}

/** The index of keys that objects had before. */
export const aliasIndex = 'alias';

/** The index of objects with overrides; all of a kind under one empty value. */
export const overrideIndex = 'override';

/** The reference row that ties a child to its parent. */
export const parentField = 'parent';

/** The name of an entry of an index. */
export function indexKey(kind: string, index: string, value: string): string {
  return `${kind}\0${index}\0${value}`;
}

/** The name of a count of references. */
export function countKey(id: string, kind: string, field: string): string {
  return `${id}\0${kind}\0${field}`;
}

/** Names of the parts of a state that can be looked at, and that change one by one. */
export const parts = {
  object: (id: string) => `o\0${id}`,
  /** Which objects there are of a kind, and what they are. */
  objectsOf: (kind: string) => `k\0${kind}`,
  /** How many objects there are of a kind. */
  countOf: (kind: string) => `n\0${kind}`,
  entry: (key: string) => `i\0${key}`,
  referrers: (id: string) => `r\0${id}`,
  count: (key: string) => `c\0${key}`,
} as const;

const none: readonly never[] = [];

const known = new WeakMap<StoredObject, Facets>();

/** The facets of an object; objects are never edited, so they are worked out once. */
export function facetsOf(registry: Registry, object: StoredObject): Facets {
  const present = known.get(object);
  if (present !== undefined) return present;
  const facets = buildFacets(registry, object);
  known.set(object, facets);
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
    // Copies: an array that grew keeps room for more, and there are three of them for each object of an account.
    ...{ keys: keys.slice(), indexes: indexes.slice(), links: links.slice(), entries: entriesOf(kind, object) },
    get references() {
      all ??= [...links, ...movedReferences(registry, undefined, object).come];
      return all;
    },
  };
}

/** References that are in one of two versions of an object alone. */
export interface MovedReferences {
  readonly come: readonly Reference[];
  readonly gone: readonly Reference[];
}

/** In which memberships two versions of an object differ; one that is absent has none. */
export function movedReferences(
  registry: Registry,
  before: StoredObject | undefined,
  after: StoredObject | undefined,
): MovedReferences {
  const come: Reference[] = [];
  const gone: Reference[] = [];
  for (const field of membershipFields(registry.get((after ?? before)?.kind ?? '').spec)) {
    for (const { id: to, was, is } of movedMembers(before, after, field)) {
      come.push(...is.filter((origin) => !was.includes(origin)).map((origin) => ({ field, to, origin })));
      gone.push(...was.filter((origin) => !is.includes(origin)).map((origin) => ({ field, to, origin })));
    }
  }
  return { come, gone };
}

function entriesOf({ entries }: Kind, object: StoredObject): Facets['entries'] {
  if (entries === undefined) return none;
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
