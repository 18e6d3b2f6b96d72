import type { Kind } from './kind.ts';
import type { StoredObject } from './object.ts';
import { mentionsOf } from './references.ts';
import type { Registry } from './registry.ts';

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
  readonly references: readonly Reference[];
  /** Entries of the directory, by which the object is found across accounts. */
  readonly entries: readonly { readonly kind: string; readonly value: string }[];
}

/** The index of keys that objects had before. */
export const aliasIndex = 'alias';

/** The index of objects of which somebody holds units for a while; all of a kind under one empty value. */
export const overrideIndex = 'override';

/** The reference row that ties a child to its parent. */
export const parentField = 'parent';

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
  return { keys, indexes, references: referencesOf(registry, object), entries: entriesOf(kind, object) };
}

function entriesOf({ entries }: Kind, object: StoredObject): Facets['entries'] {
  if (entries === undefined) return none;
  return Object.entries(entries).flatMap(([kind, read]) => {
    const value = read(object);
    return value === undefined || value === '' ? [] : [{ kind, value }];
  });
}

function referencesOf(registry: Registry, object: StoredObject): readonly Reference[] {
  const kind = registry.get(object.kind);
  const found = new Map<string, Reference>();
  const add = (field: string, to: string, origin: string) =>
    found.set(`${field}\n${to}\n${origin}`, { field, to, origin });
  if (object.parent !== undefined) add(parentField, object.parent, '');
  for (const mention of mentionsOf(kind.spec, object.spec)) {
    if (mention.field === kind.parent?.field) continue;
    for (const origin of originsOf(object, mention.field, mention.text)) add(mention.field, mention.text, origin);
  }
  return [...found.values()];
}

/** Membership has one row per origin; every other reference has one row. */
function originsOf(object: StoredObject, field: string, id: string): readonly string[] {
  const value = object.spec[field];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [''];
  const origins = (value as Record<string, unknown>)[id];
  return Array.isArray(origins) ? origins.map(String) : [''];
}
