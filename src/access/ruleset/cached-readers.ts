import type { StoredObject } from '../../model/state/object.ts';
import type { KindName, Stored } from '../../model/state/stored.ts';

/** A reader of the objects of a kind that keeps what it read beside the object, which never changes. */
export function readerOf<K extends KindName, T>(_kind: K, read: (object: Stored<K>) => T): (object: StoredObject) => T {
  const known = new WeakMap<StoredObject, { readonly value: T }>();
  return (object) => {
    const present = known.get(object);
    if (present !== undefined) return present.value;
    // Callers ask `partOf` first, or took the object from those of the kind.
    const value = read(object as Stored<K>);
    known.set(object, { value });
    return value;
  };
}

/** Says which of these parts an object is, `undefined` when it is none; `kinds` are those that the parts are stored as. */
export function partReader<Part extends string>(
  kinds: Readonly<Record<Part, string>>,
): (object: StoredObject | undefined) => Part | undefined {
  // The members of the record are the parts.
  const entries = Object.entries(kinds) as [Part, string][];
  const parts = new Map(entries.map(([part, kind]) => [kind, part] as const));
  return (object) => (object === undefined ? undefined : parts.get(object.kind));
}
