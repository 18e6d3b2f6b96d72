import type { Kind } from '../../model/declare/kind.ts';
import type { Problem } from '../../model/problem.ts';
import { canonicalStated } from '../../model/schema/normalize.ts';
import { mapReferences } from '../../model/schema/references.ts';
import type { AdoptMode } from '../../model/sources/settings.ts';
import { aliasIndex } from '../../model/state/facets.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { Desired } from './desired.ts';

/** What is matched with what. */
export interface MatchInput {
  readonly snapshot: Snapshot;
  readonly source: string;
  readonly desired: readonly Desired[];
  /** What the source stated until now. */
  readonly before: readonly StoredObject[];
  readonly adopt: AdoptMode;
  /** Documents that go on using a former key: `Kind/key` to the id of the object. */
  readonly former: ReadonlyMap<string, string>;
}

/** The search for the objects that documents stand for: what is known and taken by now. */
export interface Search {
  readonly snapshot: Snapshot;
  readonly adopt: AdoptMode;
  readonly taken: Set<string>;
  readonly problems: Problem[];
  readonly warnings: Problem[];
  /** The key by which this plan knows a stored object. */
  readonly keys: Map<string, string>;
  /** The stored object that a text of the documents names, as far as it is there and known by now. */
  idOf(kind: string, text: string): string | undefined;
  /** Children of a parent by their natural key, as it is stored. */
  childrenAt(kind: Kind, parent: string, natural: string): readonly StoredObject[];
  readonly ids: Map<string, string>;
}

/** The search at its beginning. */
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
    // A stored spec is canonical, so it has the shape that the fields give it.
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

/** Notes that an item stands for an object. */
export function take({ taken, ids, keys }: Search, { kind, key }: Desired, { id }: StoredObject): void {
  taken.add(id);
  ids.set(`${kind.name}/${key}`, id);
  keys.set(id, key);
}

/** The id of the parent that a child names. */
export function parentOf({ idOf }: Search, { kind, parent }: Desired): string | undefined {
  return parent === undefined ? undefined : idOf(kind.parent?.kind ?? '', parent);
}

/** The stated spec as it would be stored: with ids for the names that are known. The fields give it its shape. */
export function asStored({ idOf }: Search, { kind, spec }: Desired): never {
  const named = mapReferences(kind.spec, spec, ({ kind: target, text }) => idOf(target, text) ?? text);
  return canonicalStated(kind, named).spec as never;
}

/** Children of the same parent with the same natural key. */
export function sameChildren(search: Search, item: Desired, parent: string): readonly StoredObject[] {
  return search.childrenAt(item.kind, parent, item.kind.naturalKey?.(asStored(search, item)) ?? '');
}
