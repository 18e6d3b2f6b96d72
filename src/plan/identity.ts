import { canonicalStated } from '../model/canonical.ts';
import type { StoredObject } from '../model/object.ts';
import type { Problem } from '../model/problem.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { type Desired, problemAt } from './desired.ts';

/** The annotation that links a document to an object which no source manages yet: `id:<id>`. */
export const adoptAnnotation = 'heddle.dev/adopt';

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
): Matches {
  const taken = new Set<string>();
  const problems: Problem[] = [];
  const byKey = desired.map((item) => {
    const existing = snapshot.findByKey(item.kind.name, item.key);
    if (existing !== undefined) taken.add(existing.id);
    return existing;
  });
  const leftovers = leftoversBySlot(snapshot, before, taken);
  const parents: Parents = new Map();
  const match = (item: Desired, existing: StoredObject | undefined): Matched => {
    if (existing !== undefined) return { desired: item, existing, adopted: 'no' };
    const paired = pairChild(item, leftovers);
    if (paired !== undefined) return { desired: item, existing: paired, adopted: 'no' };
    return findUnmanaged({ snapshot, taken, parents, problems }, item) ?? { desired: item, adopted: 'no' };
  };
  const matched = new Map<Desired, Matched>();
  // Children last: an unmanaged one is found below what the document of its parent stands for.
  for (const children of [false, true])
    for (const [at, item] of desired.entries()) {
      if ((item.kind.parent !== undefined) !== children) continue;
      const found = match(item, byKey[at]);
      matched.set(item, found);
      if (found.existing === undefined) continue;
      taken.add(found.existing.id);
      parents.set(`${item.kind.name}/${item.key}`, found.existing);
    }
  return { matched: desired.flatMap((item) => matched.get(item) ?? []), problems };
}

/** What the documents of the input stand for, by kind and key. */
type Parents = Map<string, StoredObject>;

/** What is known while objects are matched. */
interface Matching {
  readonly snapshot: Snapshot;
  readonly taken: ReadonlySet<string>;
  readonly parents: Parents;
  readonly problems: Problem[];
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
    if (kind.pairing === undefined || object.key === undefined) continue;
    // A stored spec is canonical, so it has the shape that the fields give it.
    const slot = slotOf(
      object.kind,
      parentKey(object.key, kind.naturalKey?.(object.spec as never) ?? ''),
      kind.pairing(object.spec as never),
    );
    slots.set(slot, [...(slots.get(slot) ?? []), object]);
  }
  for (const objects of slots.values()) objects.sort((a, b) => ((a.key ?? '') < (b.key ?? '') ? -1 : 1));
  return slots;
}

/** A changed address keeps its id: an old and a new record of equal name and type are one record that changed. */
function pairChild(item: Desired, leftovers: Map<string, StoredObject[]>): StoredObject | undefined {
  if (item.kind.pairing === undefined || item.parent === undefined) return undefined;
  const canonical = canonicalStated(item.kind, item.spec).spec as never;
  const natural = item.kind.naturalKey?.(canonical) ?? '';
  return leftovers.get(slotOf(item.kind.name, parentKey(item.key, natural), item.kind.pairing(canonical)))?.shift();
}

function parentKey(key: string, natural: string): string {
  return key.slice(0, key.length - natural.length);
}

function slotOf(kind: string, parent: string, pairing: string): string {
  return `${kind}\0${parent}\0${pairing}`;
}

function findUnmanaged(matching: Matching, item: Desired): Matched | undefined {
  const { snapshot, taken, problems } = matching;
  const { kind } = item;
  const adopt = item.annotations[adoptAnnotation];
  if (adopt !== undefined) return adoptById(matching, item, adopt);
  const free = (object: StoredObject) =>
    isUnmanaged(object) && !taken.has(object.id) && kind.isSystem?.(object) !== true;
  if (kind.singleton !== undefined) return adoptAs(item, snapshot.ofKind(kind.name).find(free), 'by_id');
  if (kind.parent !== undefined) return adoptAs(item, sameChild(matching, item, free), 'by_name');
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
  return adoptAs(item, named[0], 'by_name');
}

function adoptAs(item: Desired, existing: StoredObject | undefined, adopted: Matched['adopted']): Matched | undefined {
  return existing === undefined ? undefined : { desired: item, existing, adopted };
}

/** A child of the same parent with the same natural key that was made through the API. */
function sameChild(
  { snapshot, parents }: Matching,
  item: Desired,
  free: (object: StoredObject) => boolean,
): StoredObject | undefined {
  const parentKind = item.kind.parent?.kind ?? '';
  const text = item.parent ?? '';
  const parent =
    parents.get(`${parentKind}/${text}`) ??
    snapshot.findByKey(parentKind, text) ??
    snapshot.get(text.replace(/^id:/, '')) ??
    onlyNamed(snapshot, parentKind, text);
  if (parent === undefined) return undefined;
  const natural = item.kind.naturalKey?.(canonicalStated(item.kind, item.spec).spec as never);
  return snapshot
    .childrenOf(parent.id, item.kind.name)
    .find((child) => free(child) && item.kind.naturalKey?.(child.spec as never) === natural);
}

function onlyNamed(snapshot: Snapshot, kind: string, name: string): StoredObject | undefined {
  const named = snapshot.lookUp(kind, 'name', name.replace(/^name:/, ''));
  return named.length === 1 ? named[0] : undefined;
}

function adoptById({ snapshot, taken, problems }: Matching, item: Desired, adopt: string): Matched | undefined {
  const id = adopt.replace(/^id:/, '');
  const object = snapshot.get(id);
  const fault =
    object === undefined || object.kind !== item.kind.name
      ? `there is no ${item.kind.name} with the id ${id} in this account`
      : !isUnmanaged(object)
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

function isUnmanaged(object: StoredObject): boolean {
  return object.owner === undefined && object.declared.length === 0 && object.key === undefined;
}

function managersOf(object: StoredObject): readonly string[] {
  return [
    ...new Set([...(object.owner === undefined ? [] : [object.owner]), ...object.declared.map(({ source }) => source)]),
  ];
}
