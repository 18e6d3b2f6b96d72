import type { Kind } from '../../model/declare/kind.ts';
import type { Problem } from '../../model/problem.ts';
import { canonicalStated } from '../../model/schema/normalize.ts';
import { mapReferences } from '../../model/schema/references.ts';
import type { AdoptMode } from '../../model/sources/settings.ts';
import { aliasIndex } from '../../model/state/facets.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { DesiredObject } from './desired.ts';

/** Input of the matching of documents with stored objects. */
export interface MatchInput {
  readonly snapshot: Snapshot;
  readonly source: string;
  readonly desired: readonly DesiredObject[];
  /** Objects that the source stated before this plan. */
  readonly before: readonly StoredObject[];
  readonly adopt: AdoptMode;
  /** Documents that still use a former key: `Kind/key` to the id of the object. */
  readonly former: ReadonlyMap<string, string>;
}

/** State of the matching: the objects that are matched already, and the ids and keys that are known. */
export interface Search {
  readonly snapshot: Snapshot;
  readonly adopt: AdoptMode;
  readonly taken: Set<string>;
  readonly problems: Problem[];
  readonly warnings: Problem[];
  /** Keys that the plan uses for stored objects, by id. */
  readonly keys: Map<string, string>;
  /** Returns the id of the stored object that a text in the documents names, or undefined when it is not known yet. */
  idOf(kind: string, text: string): string | undefined;
  /** Returns the children of a parent that have the given natural key in their stored spec. */
  childrenAt(kind: Kind, parent: string, natural: string): readonly StoredObject[];
  readonly ids: Map<string, string>;
}

/** Creates the state for a new matching. */
export function createSearch({ snapshot, adopt }: MatchInput): Search {
  const ids = new Map<string, string>();
  const families = new Map<string, Map<string, StoredObject[]>>();
  return {
    ...{ snapshot, adopt, ids, taken: new Set(), problems: [], warnings: [], keys: new Map() },
    idOf: (kind, text) => idNamed(snapshot, ids, kind, text),
    childrenAt(kind, parent, natural) {
      const name = `${kind.name}/${parent}`;
      const family = families.get(name) ?? byNaturalKey(kind, snapshot.childrenOf(parent, kind.name));
      families.set(name, family);
      return family.get(natural) ?? [];
    },
  };
}

function byNaturalKey(kind: Kind, children: readonly StoredObject[]): Map<string, StoredObject[]> {
  const family = new Map<string, StoredObject[]>();
  for (const child of children) {
    // A stored spec is canonical, so it has the shape that the fields of its kind define.
    const natural = kind.naturalKey?.(child.spec) ?? '';
    const siblings = family.get(natural);
    if (siblings === undefined) family.set(natural, [child]);
    else siblings.push(child);
  }
  return family;
}

function idNamed(
  snapshot: Snapshot,
  matched: ReadonlyMap<string, string>,
  kind: string,
  text: string,
): string | undefined {
  if (text.startsWith('id:')) return text.slice(3);
  const id = matched.get(`${kind}/${text}`) ?? snapshot.findByKey(kind, text)?.id;
  if (id !== undefined) return id;
  const former = text.startsWith('name:') ? [] : snapshot.lookUp(kind, aliasIndex, text);
  const found = former.length > 0 ? former : snapshot.lookUp(kind, 'name', text.replace(/^name:/, ''));
  return found.length === 1 ? found[0]?.id : undefined;
}

/** Records that a document is matched with a stored object. */
export function recordMatch({ taken, ids, keys }: Search, { kind, key }: DesiredObject, { id }: StoredObject): void {
  taken.add(id);
  ids.set(`${kind.name}/${key}`, id);
  keys.set(id, key);
}

/** Returns the id of the parent that a child names, or undefined when it is not known. */
export function parentOf({ idOf }: Search, { kind, parent }: DesiredObject): string | undefined {
  return parent === undefined ? undefined : idOf(kind.parent?.kind ?? '', parent);
}

/**
 * Returns the stated spec as it would be stored: known names are replaced by ids. The fields of the kind define its
 * shape, so the caller may pass it to any function of the kind.
 */
export function asStored({ idOf }: Search, { kind, spec }: DesiredObject): never {
  const named = mapReferences(kind.spec, spec, ({ kind: target, text }) => idOf(target, text) ?? text);
  return canonicalStated(kind, named).spec as never;
}

/** Returns the stored children of the parent that have the same natural key as the item. */
export function childrenWithSameKey(search: Search, item: DesiredObject, parent: string): readonly StoredObject[] {
  return search.childrenAt(item.kind, parent, item.kind.naturalKey?.(asStored(search, item)) ?? '');
}
