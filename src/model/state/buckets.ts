import { emptyMap, type PersistentMap } from '../../lib/persistent-map.ts';

/** Set of ids in an index entry. */
export type IdSet = PersistentMap<true>;

/** Edits a map of sets. Changes are collected, and each changed set is written once. */
export class SetMapDraft {
  readonly #map: PersistentMap<IdSet>;
  readonly #changes = new Map<string, Map<string, boolean>>();

  constructor(map: PersistentMap<IdSet>) {
    this.#map = map;
  }

  /** Adds an element. Returns whether it was absent before. */
  add(bucket: string, element: string): boolean {
    return this.#change(bucket, element, true);
  }

  /** Removes an element. Returns whether it was present before. */
  drop(bucket: string, element: string): boolean {
    return this.#change(bucket, element, false);
  }

  #change(bucket: string, element: string, present: boolean): boolean {
    let changes = this.#changes.get(bucket);
    if (changes === undefined) {
      changes = new Map();
      this.#changes.set(bucket, changes);
    }
    const before = changes.get(element) ?? this.#map.get(bucket)?.has(element) ?? false;
    changes.set(element, present);
    return before !== present;
  }

  *close(): Generator<undefined, PersistentMap<IdSet>> {
    const draft = this.#map.open();
    let written = 0;
    for (const [bucket, changes] of this.#changes) {
      const set = (draft.get(bucket) ?? emptyMap<true>()).open();
      for (const [element, present] of changes) {
        if (present) set.set(element, true);
        else set.delete(element);
        written += 1;
        if (written % 512 === 0) yield undefined;
      }
      const ids = set.close();
      if (ids.size === 0) draft.delete(bucket);
      else draft.set(bucket, ids);
    }
    return draft.close();
  }
}
