import { storedObject } from '../../../commit/bootstrap.ts';
import { equalJson, type JsonObject } from '../../../lib/json.ts';
import { type Provided, providedIndex, providedValue } from '../../../model/declare/provided.ts';
import { canonicalSpec } from '../../../model/schema/normalize.ts';
import { contentOf } from '../../../model/state/members.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { asKind, type Stored } from '../../../model/state/stored.ts';

/** The kinds that providers bring. */
export type ProvidedKind = 'User' | 'Group';

/** A user or a group before and after a change. */
export interface Draft<K extends ProvidedKind> {
  readonly before?: Stored<K>;
  /** Absent: it goes. */
  readonly after?: Stored<K>;
}

/** The users or the groups of an account while a change is worked out: only what is touched is copied. */
export interface Drafts<K extends ProvidedKind> {
  /** As it is so far. */
  get(id: string): Stored<K> | undefined;
  /** What the integration brought under a key, in the state before the change or since. */
  find(key: string): Stored<K> | undefined;
  /** Adds one, or changes it. */
  put(id: string, values: DraftValues): void;
  remove(id: string): void;
  changed(): readonly Draft<K>[];
}

/** What is put into a draft; facts of the server that are absent stay. */
export interface DraftValues {
  readonly spec: JsonObject;
  readonly provided?: Provided | undefined;
  readonly derived?: JsonObject;
}

/** How keys name users and groups. */
export interface Naming {
  readonly by: string;
  readonly keys: 'external' | 'objects';
  readonly now: string;
}

/** Starts with what is in a state. */
export function createDrafts<K extends ProvidedKind>(state: Snapshot, kind: K, { by, keys, now }: Naming): Drafts<K> {
  const declared = state.registry.get(kind);
  const touched = new Map<string, Stored<K> | undefined>();
  const made = new Map<string, string>();
  const before = (id: string): Stored<K> | undefined => {
    const object = state.get(id);
    return object?.kind === kind ? asKind(object, kind) : undefined;
  };
  const get = (id: string): Stored<K> | undefined => (touched.has(id) ? touched.get(id) : before(id));
  const stored = (key: string): string | undefined => {
    if (keys === 'external') return state.lookUp(kind, providedIndex, providedValue(by, 'id', key))[0]?.id;
    // An id of another integration, or of a user whom none brought, names nothing here.
    return before(key)?.derived.provided?.by === by ? key : undefined;
  };
  /** What is stored may be older than a field, so that only a spec that differs is made canonical. */
  const renamed = (was: Stored<K>, spec: JsonObject): Pick<StoredObject, 'spec' | 'name'> => {
    if (equalJson(was.spec, spec)) return was;
    const canonical = contentOf(declared.spec, canonicalSpec(declared, spec).spec).spec;
    return { spec: canonical, name: String(canonical[declared.nameField] ?? '') };
  };
  return {
    get,
    find(key) {
      const id = made.get(key) ?? stored(key);
      return id === undefined ? undefined : get(id);
    },
    put(id, { spec, provided, derived: more }) {
      const was = get(id);
      const derived = { ...was?.derived, ...more, ...(provided === undefined ? {} : { provided }) };
      const fresh = () => storedObject(state, { id, kind, spec: canonicalSpec(declared, spec).spec, derived }, now);
      const after = asKind(
        was === undefined ? fresh() : { ...was, ...renamed(was, spec), derived, updatedAt: now },
        kind,
      );
      touched.set(id, after);
      const key = keys === 'external' ? provided?.external_id : id;
      if (key !== undefined) made.set(key, id);
    },
    remove: (id) => void touched.set(id, undefined),
    changed: () =>
      [...touched].flatMap(([id, after]): readonly Draft<K>[] => {
        const was = before(id);
        if (after === undefined) return was === undefined ? [] : [{ before: was }];
        if (was === undefined) return [{ after }];
        return isSame(was, after) ? [] : [{ before: was, after }];
      }),
  };
}

function isSame<K extends ProvidedKind>(was: Stored<K>, is: Stored<K>): boolean {
  return equalJson(was.spec, is.spec) && equalJson(was.derived, is.derived);
}
