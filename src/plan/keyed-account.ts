import type { StoredObject } from '../model/state/object.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import type { Edit } from './finish.ts';

/** The account as documents know it: with the keys that they give to its objects. */
export interface Base {
  readonly snapshot: Snapshot;
  /** Ids of the objects that are not as in the account. */
  readonly moved: ReadonlySet<string>;
}

/** So many former keys are remembered. */
export const mostAliases = 20;

/** The account with objects, and all that belongs to them, under new keys. What they were called is remembered. */
export function withKeys(account: Snapshot, keys: ReadonlyMap<string, string>): Base {
  const put = [...keys].flatMap(([id, key]) => {
    const object = account.get(id);
    return object === undefined ? [] : renamed(account, object, key);
  });
  if (put.length === 0) return { snapshot: account, moved: new Set() };
  return { snapshot: account.with({ put, remove: [] }), moved: new Set(put.map(({ id }) => id)) };
}

function renamed(account: Snapshot, object: StoredObject, key: string): readonly StoredObject[] {
  const former = object.key;
  if (former === undefined || former === key) return [];
  const children = account.registry
    .childrenOf(object.kind)
    .flatMap((kind) => account.childrenOf(object.id, kind.name))
    .flatMap((child) =>
      child.key?.startsWith(`${former}/`) === true
        ? renamed(account, child, `${key}${child.key.slice(former.length)}`)
        : [],
    );
  return [{ ...object, key, aliases: aliasesWith(object.aliases, former, key) }, ...children];
}

/** The former keys of an object with one more, by which others may still refer to it. */
function aliasesWith(aliases: readonly string[] = [], former: string, key?: string): readonly string[] {
  return [...aliases.filter((alias) => alias !== key && alias !== former), former].slice(-mostAliases);
}

/** The object with its key, or with a key that it had: documents that refer to it by that go on meaning it. */
export function withKeyIf(isKept: boolean, { key, ...object }: StoredObject): StoredObject {
  if (key === undefined) return object;
  return isKept ? { ...object, key } : { ...object, aliases: aliasesWith(object.aliases, key) };
}

/** Edits of the base as edits of the account: what has another key there changes also when nothing else of it does. */
export function editsOfAccount(account: Snapshot, base: Base, edits: readonly Edit[]): readonly Edit[] {
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
