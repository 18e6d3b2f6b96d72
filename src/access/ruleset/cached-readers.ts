import type { StoredObject } from '../../model/state/object.ts';
import type { KindName, Stored } from '../../model/state/stored.ts';

/**
 * Returns a reader for objects of a kind. It reads each object once and caches the result, because objects never
 * change.
 */
export function cachedReader<K extends KindName, T>(
  _kind: K,
  read: (object: Stored<K>) => T,
): (object: StoredObject) => T {
  const known = new WeakMap<StoredObject, { readonly value: T }>();
  return (object) => {
    const present = known.get(object);
    if (present !== undefined) return present.value;
    // Callers check the kind with `accessTypeOf` first, or got the object from `ofKind`.
    const value = read(object as Stored<K>);
    known.set(object, { value });
    return value;
  };
}

/**
 * Returns a function that maps an object to its part, or to `undefined` when its kind is not listed. `kinds` gives the
 * kind of each part.
 */
export function typeReader<Part extends string>(
  kinds: Readonly<Record<Part, string>>,
): (object: StoredObject | undefined) => Part | undefined {
  // The keys of the record are the parts.
  const entries = Object.entries(kinds) as [Part, string][];
  const parts = new Map(entries.map(([part, kind]) => [kind, part] as const));
  return (object) => (object === undefined ? undefined : parts.get(object.kind));
}
