import { canonicalStated } from '../model/canonical.ts';
import { type Kind, statesOnly } from '../model/kind.ts';
import type { StoredObject } from '../model/object.ts';
import type { Problem } from '../model/problem.ts';
import { mapReferences } from '../model/references.ts';
import type { Snapshot } from '../model/snapshot.ts';
import type { AdoptMode } from '../model/source-settings.ts';
import { adoptAnnotation } from './annotations.ts';
import { type Desired, problemAt } from './desired.ts';

/** A desired object with the stored one it stands for, if there is one. */
export interface Matched {
  readonly desired: Desired;
  readonly existing?: StoredObject;
  /** Nobody manages the object; it was found by annotation or by its name. */
  readonly adopted: 'no' | 'by_id' | 'by_name';
}

export interface Matches {
  readonly matched: readonly Matched[];
  readonly problems: readonly Problem[];
}

/**
 * Finds for every desired object the stored one with its key, one of `before` (what the source stated until now) that
 * became it, or one to adopt. Nothing is ever matched twice.
 */
export function matchObjects(
  snapshot: Snapshot,
  desired: readonly Desired[],
  before: readonly StoredObject[],
  adopt: AdoptMode,
): Matches {
  const taken = new Set<string>();
  const problems: Problem[] = [];
  const ids = new Map<string, string>();
  const byKey = desired.map((item) => {
    const existing = snapshot.findByKey(item.kind.name, item.key);
    if (existing !== undefined) taken.add(existing.id);
    return existing;
  });
  const search: Search = { snapshot, adopt, taken, problems, idOf: (kind, text) => idNamed(snapshot, ids, kind, text) };
  const leftovers = leftoversBySlot(snapshot, before, taken);
  const matched: Matched[] = [];
  const match = (item: Desired, at: number): void => {
    const found = matchObject(search, leftovers, item, byKey[at]);
    if (found.existing !== undefined) {
      taken.add(found.existing.id);
      ids.set(`${item.kind.name}/${item.key}`, found.existing.id);
    }
    matched[at] = found;
  };
  // Children are found by what they belong to and refer to, so everything else comes first.
  for (const [at, item] of desired.entries()) if (item.kind.parent === undefined) match(item, at);
  for (const [at, item] of desired.entries()) if (item.kind.parent !== undefined) match(item, at);
  return { matched, problems };
}

interface Search {
  readonly snapshot: Snapshot;
  readonly adopt: AdoptMode;
  readonly taken: Set<string>;
  readonly problems: Problem[];
  /** The stored object that a text of the documents names, as far as it is there and known by now. */
  idOf(kind: string, text: string): string | undefined;
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
  const [named, ...others] = snapshot.lookUp(kind, 'name', text.replace(/^name:/, ''));
  return others.length === 0 ? named?.id : undefined;
}

function matchObject(
  search: Search,
  leftovers: Map<string, StoredObject[]>,
  item: Desired,
  byKey: StoredObject | undefined,
): Matched {
  if (byKey !== undefined) return { desired: item, existing: byKey, adopted: 'no' };
  const paired = pairChild(search, item, leftovers);
  if (paired !== undefined) return { desired: item, existing: paired, adopted: 'no' };
  return findUnmanaged(search, item) ?? { desired: item, adopted: 'no' };
}

/** Children that nothing states any more, by parent and pairing value, in the order of their keys. */
function leftoversBySlot(
  snapshot: Snapshot,
  before: readonly StoredObject[],
  taken: ReadonlySet<string>,
): Map<string, StoredObject[]> {
  const slots = new Map<string, StoredObject[]>();
  for (const object of before) {
    const kind = snapshot.registry.get(object.kind);
    // What others state too stays theirs; this source then states another child beside it.
    if (taken.has(object.id) || object.declared.length > 1) continue;
    if (kind.pairing === undefined || object.key === undefined || object.parent === undefined) continue;
    // A stored spec is canonical, so it has the shape that the fields give it.
    const slot = slotOf(object.kind, object.parent, kind.pairing(object.spec as never));
    slots.set(slot, [...(slots.get(slot) ?? []), object]);
  }
  for (const objects of slots.values()) objects.sort((a, b) => ((a.key ?? '') < (b.key ?? '') ? -1 : 1));
  return slots;
}

/** A changed address keeps its id: an old and a new record of equal name and type are one record that changed. */
function pairChild(search: Search, item: Desired, leftovers: Map<string, StoredObject[]>): StoredObject | undefined {
  if (item.kind.pairing === undefined) return undefined;
  const parent = parentOf(search, item);
  if (parent === undefined) return undefined;
  return leftovers.get(slotOf(item.kind.name, parent, item.kind.pairing(asStored(search, item))))?.shift();
}

function parentOf({ idOf }: Search, { kind, parent }: Desired): string | undefined {
  return parent === undefined ? undefined : idOf(kind.parent?.kind ?? '', parent);
}

/** The stated spec as it would be stored: with ids for the names that are known. The fields give it its shape. */
function asStored({ idOf }: Search, { kind, spec }: Desired): never {
  const named = mapReferences(kind.spec, spec, ({ kind: target, text }) => idOf(target, text) ?? text);
  return canonicalStated(kind, named).spec as never;
}

function slotOf(kind: string, parent: string, pairing: string): string {
  return `${kind}\0${parent}\0${pairing}`;
}

function findUnmanaged(search: Search, item: Desired): Matched | undefined {
  const { snapshot, taken, problems } = search;
  const { kind } = item;
  const adopt = item.annotations[adoptAnnotation];
  if (adopt !== undefined) return adoptById(search, item, adopt);
  const free = (object: StoredObject) =>
    isUnmanaged(kind, object) && !taken.has(object.id) && kind.isSystem?.(object) !== true;
  if (kind.singleton !== undefined) return adoptAs(item, snapshot.ofKind(kind.name).find(free), 'by_id');
  if (kind.single === true) return adoptByName(search, item, snapshot.ofKind(kind.name).find(free));
  if (kind.parent !== undefined) return adoptByName(search, item, sameChild(search, item, free));
  const named = snapshot.lookUp(kind.name, 'name', String(item.spec[kind.nameField] ?? '')).filter(free);
  if (named.length > 1) {
    const ids = named.map((object) => `id:${object.id}`).join(', ');
    const message = `${named.length} objects of kind ${kind.name} that no source manages have this name; say which one with the annotation ${adoptAnnotation}: one of ${ids}`;
    problems.push(
      problemAt(
        item.place,
        '/metadata',
        { kind: kind.name, metadata: { name: item.key } },
        { code: 'adopt_ambiguous', path: '', message },
      ),
    );
  }
  return adoptByName(search, item, named[0]);
}

/** What merely has the same name is taken over unless the source is set to take nothing; then it stands in the way. */
function adoptByName(search: Search, item: Desired, object: StoredObject | undefined): Matched | undefined {
  if (search.adopt !== 'never' || object === undefined) return adoptAs(item, object, 'by_name');
  const { kind, key } = item;
  const message = `${kind.name} \`${object.name}\` exists already (id ${object.id}), no source manages it, and this source takes over nothing by itself; take it with the annotation ${adoptAnnotation}: "id:${object.id}", or choose another name`;
  const fault = { code: 'object_exists', path: '', message };
  search.problems.push(problemAt(item.place, item.pointer, { kind: kind.name, metadata: { name: key } }, fault));
  return undefined;
}

function adoptAs(item: Desired, existing: StoredObject | undefined, adopted: Matched['adopted']): Matched | undefined {
  return existing === undefined ? undefined : { desired: item, existing, adopted };
}

/** A child of the same parent with the same natural key that was made through the API. */
function sameChild(search: Search, item: Desired, free: (object: StoredObject) => boolean): StoredObject | undefined {
  const parent = parentOf(search, item);
  if (parent === undefined) return undefined;
  const natural = item.kind.naturalKey?.(asStored(search, item));
  return search.snapshot
    .childrenOf(parent, item.kind.name)
    .find((child) => free(child) && item.kind.naturalKey?.(child.spec as never) === natural);
}

function adoptById({ snapshot, taken, problems }: Search, item: Desired, adopt: string): Matched | undefined {
  const id = adopt.replace(/^id:/, '');
  const object = snapshot.get(id);
  const fault =
    object === undefined || object.kind !== item.kind.name
      ? `there is no ${item.kind.name} with the id ${id} in this account`
      : !isUnmanaged(item.kind, object)
        ? `${item.kind.name} ${object.key ?? object.name} is managed already, by ${managersOf(object).join(', ')}`
        : item.kind.isSystem?.(object) === true
          ? `${item.kind.name} ${object.name} belongs to the system`
          : taken.has(object.id)
            ? `${item.kind.name} ${object.name} is adopted by another document already`
            : undefined;
  if (fault === undefined) return adoptAs(item, object, 'by_id');
  const message = `${fault}; correct or remove the annotation ${adoptAnnotation}`;
  problems.push(
    problemAt(
      item.place,
      '/metadata/annotations',
      { kind: item.kind.name, metadata: { name: item.key } },
      { code: 'adopt_impossible', path: '', message },
    ),
  );
  return undefined;
}

/** A key that a document gave is free again with the object; one that others gave is part of it. */
function isUnmanaged(kind: Kind, { owner, declared, key }: StoredObject): boolean {
  return owner === undefined && declared.length === 0 && (key === undefined || !statesOnly(kind));
}

function managersOf(object: StoredObject): readonly string[] {
  return [
    ...new Set([...(object.owner === undefined ? [] : [object.owner]), ...object.declared.map(({ source }) => source)]),
  ];
}
