import { storedObject } from '../../../commit/bootstrap.ts';
import { equalJson, type JsonObject } from '../../../lib/json.ts';
import { type Provided, providedIndex, providedValue } from '../../../model/declare/provided.ts';
import { canonicalSpec } from '../../../model/schema/normalize.ts';
import { contentFromSpec } from '../../../model/state/members.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { asKind, type Stored } from '../../../model/state/stored.ts';

/** Kinds of objects that providers bring. */
export type ProvidedKind = 'User' | 'Group';

/** A user or a group before and after a change. */
export interface Draft<K extends ProvidedKind> {
  readonly before?: Stored<K>;
  /** Absent: the object is deleted. */
  readonly after?: Stored<K>;
}

/** The users or the groups of an account while a change is planned. Only objects that the change touches are copied. */
export interface Drafts<K extends ProvidedKind> {
  /** Returns the object with the changes so far. */
  get(id: string): Stored<K> | undefined;
  /** Returns the object that the integration brought under a key, before this change or with it. */
  find(key: string): Stored<K> | undefined;
  /** Adds an object, or changes it. */
  put(id: string, values: DraftValues): void;
  remove(id: string): void;
  changed(): readonly Draft<K>[];
}

/** Values to write into a draft. Absent derived values stay unchanged. */
export interface DraftValues {
  readonly spec: JsonObject;
  readonly provided?: Provided | undefined;
  readonly derived?: JsonObject;
}

/** How keys name users and groups, and the integration (`by`) to which they belong. */
export interface DraftContext {
  readonly by: string;
  readonly keys: 'external' | 'objects';
  readonly now: string;
}

/** Creates drafts from the objects of a state. */
export function createDrafts<K extends ProvidedKind>(
  state: Snapshot,
  kind: K,
  { by, keys, now }: DraftContext,
): Drafts<K> {
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
    // The id of an object that another integration or none brought names nothing here.
    return before(key)?.derived.provided?.by === by ? key : undefined;
  };
  /**
   * Returns the new spec and its name. Only a spec that differs is made canonical, because a stored spec may be older
   * than one of its fields.
   */
  const renamed = (was: Stored<K>, spec: JsonObject): Pick<StoredObject, 'spec' | 'name'> => {
    if (equalJson(was.spec, spec)) return was;
    const canonical = contentFromSpec(declared.spec, canonicalSpec(declared, spec).spec).spec;
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
