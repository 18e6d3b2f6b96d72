import type { StoredObject } from '../model/state/object.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import type { Edit } from './finish.ts';

/** The account as the documents see it: its objects have the keys that the documents give them. */
export interface KeyedAccount {
  readonly snapshot: Snapshot;
  /** Ids of the objects that differ from the account. */
  readonly moved: ReadonlySet<string>;
}

/** Maximum number of former keys that an object keeps. */
export const maxAliases = 20;

/** Returns the account with objects and their children under new keys. The previous keys are kept as former keys. */
export function withKeys(account: Snapshot, keys: ReadonlyMap<string, string>): KeyedAccount {
  const put = [...keys].flatMap(([id, key]) => {
    const object = account.get(id);
    return object === undefined ? [] : withNewKey(account, object, key);
  });
  if (put.length === 0) return { snapshot: account, moved: new Set() };
  return { snapshot: account.with({ put, remove: [] }), moved: new Set(put.map(({ id }) => id)) };
}

function withNewKey(account: Snapshot, object: StoredObject, key: string): readonly StoredObject[] {
  const former = object.key;
  if (former === undefined || former === key) return [];
  const children = account.registry
    .childrenOf(object.kind)
    .flatMap((kind) => account.childrenOf(object.id, kind.name))
    .flatMap((child) =>
      child.key?.startsWith(`${former}/`) === true
        ? withNewKey(account, child, `${key}${child.key.slice(former.length)}`)
        : [],
    );
  return [{ ...object, key, aliases: aliasesWith(object.aliases, former, key) }, ...children];
}

/**
 * Appends a key to the former keys of an object, so that references by that key still resolve. Keeps the last
 * `maxAliases`.
 */
function aliasesWith(aliases: readonly string[] = [], former: string, key?: string): readonly string[] {
  return [...aliases.filter((alias) => alias !== key && alias !== former), former].slice(-maxAliases);
}

/**
 * Returns the object with its key, or with the key moved to its former keys: documents that refer to it by that key
 * still find it.
 */
export function withKeyIf(isKept: boolean, { key, ...object }: StoredObject): StoredObject {
  if (key === undefined) return object;
  return isKept ? { ...object, key } : { ...object, aliases: aliasesWith(object.aliases, key) };
}

/**
 * Converts edits of the base to edits of the account. Adds an edit for each object that differs in the base, such as by
 * its key, even when the documents change nothing else of it.
 */
export function toAccountEdits(account: Snapshot, base: KeyedAccount, edits: readonly Edit[]): readonly Edit[] {
  if (base.moved.size === 0) return edits;
  const edited = new Set<string>();
  const own = edits.map((edit) => {
    const id = edit.before?.id ?? edit.after?.id ?? '';
    edited.add(id);
    const before = account.get(id);
    return before === undefined ? edit : { ...edit, before };
  });
  const others = [...base.moved].flatMap((id) => {
    const [before, after] = [account.get(id), base.snapshot.get(id)];
    if (edited.has(id) || before === undefined || after === undefined) return [];
    return [{ before, after, internal: true as const }];
  });
  return [...own, ...others];
}
