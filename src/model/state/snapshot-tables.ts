import { emptyMap, type MapDraft, type PersistentMap } from '../../lib/persistent-map.ts';
import { emptySortedMap, type SortedMap } from '../../lib/sorted-map.ts';
import { shouldYield } from '../../lib/steps.ts';
import type { Registry } from '../declare/registry.ts';
import { numberOf } from '../declare/wire-id.ts';
import type { SealForm } from '../schema/sealing.ts';
import type { SourceSettings } from '../sources/settings.ts';
import { type IdSet, SetMapDraft } from './buckets.ts';
import { countKey, facetsOf, indexKey, parentField, partKeys, type Reference } from './facets.ts';
import { changedMembers, membershipFields } from './members.ts';
import type { StoredObject } from './object.ts';

/** Objects that a step from one snapshot to the next writes and removes. */
export interface SnapshotEdits {
  readonly put: readonly StoredObject[];
  readonly remove: readonly string[];
  /** Last numbers of counted kinds, when these are higher than the numbers of the written objects. */
  readonly numbers?: Readonly<Record<string, number>>;
}

/** All data of a snapshot, in maps that share unchanged parts. */
export interface Tables {
  readonly objects: PersistentMap<StoredObject>;
  /** Sorted ids of the objects, by kind. Pages of lists rely on this order. */
  readonly kinds: ReadonlyMap<string, SortedMap<true>>;
  /** `kind\0rule\0value` to id. */
  readonly unique: PersistentMap<string>;
  /** `kind\0index\0value` to ids. */
  readonly index: PersistentMap<IdSet>;
  /** `id` to `from\0field`. */
  readonly referrers: PersistentMap<IdSet>;
  /** `id\0kind\0field` to the number of references. */
  readonly counts: PersistentMap<number>;
  readonly sources: PersistentMap<IdSet>;
  readonly numbers: Readonly<Record<string, number>>;
  readonly settings: ReadonlyMap<string, SourceSettings>;
  readonly sealForm: SealForm;
  readonly noClaimsSequence: number | undefined;
}

/** Separates the id and the field in the entries of `referrers`. */
export const referrerSeparator = '\0';

/** Returns the tables of an account without objects. */
export function emptyTables(numbers: Readonly<Record<string, number>>): Tables {
  return {
    objects: emptyMap(),
    kinds: new Map(),
    unique: emptyMap(),
    index: emptyMap(),
    referrers: emptyMap(),
    counts: emptyMap(),
    sources: emptyMap(),
    numbers,
    settings: new Map(),
    // No server of an earlier release has ever read this account, so the newest form is safe.
    sealForm: 'bound',
    noClaimsSequence: undefined,
  };
}

/** Returns the names of the parts (see `partKeys`) that differ between two states. */
export function changedParts(before: Tables, after: Tables): ReadonlySet<string> {
  const changed = new Set<string>();
  for (const id of after.objects.changedSince(before.objects)) {
    changed.add(partKeys.object(id));
    for (const object of [before.objects.get(id), after.objects.get(id)])
      if (object !== undefined) changed.add(partKeys.objectsOf(object.kind));
  }
  for (const kind of new Set([...before.kinds.keys(), ...after.kinds.keys()]))
    if (before.kinds.get(kind)?.size !== after.kinds.get(kind)?.size) changed.add(partKeys.countOf(kind));
  for (const key of after.index.changedSince(before.index)) changed.add(partKeys.entry(key));
  for (const key of after.referrers.changedSince(before.referrers)) changed.add(partKeys.referrers(key));
  for (const key of after.counts.changedSince(before.counts)) changed.add(partKeys.count(key));
  return changed;
}

interface Drafts {
  readonly objects: MapDraft<StoredObject>;
  readonly unique: MapDraft<string>;
  readonly counts: MapDraft<number>;
  /** By kind: ids that are added (`true`) and removed (`undefined`). */
  readonly kinds: Map<string, Map<string, true | undefined>>;
  readonly index: SetMapDraft;
  readonly referrers: SetMapDraft;
  readonly sources: SetMapDraft;
}

/** Returns the tables after a step. Yields regularly. */
export function* editTables(registry: Registry, tables: Tables, edits: SnapshotEdits): Generator<undefined, Tables> {
  const kinds: Drafts['kinds'] = new Map();
  const index = new SetMapDraft(tables.index);
  const referrers = new SetMapDraft(tables.referrers);
  const sources = new SetMapDraft(tables.sources);
  const [objects, unique, counts] = [tables.objects.open(), tables.unique.open(), tables.counts.open()];
  yield* applyEdits(registry, { objects, unique, counts, kinds, index, referrers, sources }, edits);
  return {
    objects: objects.close(),
    unique: unique.close(),
    counts: counts.close(),
    kinds: editKinds(tables.kinds, kinds),
    index: yield* index.close(),
    referrers: yield* referrers.close(),
    sources: yield* sources.close(),
    numbers: advanceNumbers(registry, tables.numbers, edits),
    settings: tables.settings,
    sealForm: tables.sealForm,
    noClaimsSequence: tables.noClaimsSequence,
  };
}

function editKinds(before: Tables['kinds'], edits: Drafts['kinds']): Tables['kinds'] {
  if (edits.size === 0) return before;
  const after = new Map(before);
  for (const [kind, changes] of edits) {
    const ids = (before.get(kind) ?? emptySortedMap<true>()).with(changes);
    if (ids.size === 0) after.delete(kind);
    else after.set(kind, ids);
  }
  return after;
}

/** Returns the last numbers after a step. They only grow, so the number of a deleted object is never reused. */
function advanceNumbers(
  registry: Registry,
  numbers: Readonly<Record<string, number>>,
  edits: SnapshotEdits,
): Readonly<Record<string, number>> {
  const next: Record<string, number> = {};
  const reach = (kind: string, number: number) => {
    if (number > (next[kind] ?? numbers[kind] ?? 0)) next[kind] = number;
  };
  for (const [kind, number] of Object.entries(edits.numbers ?? {})) reach(kind, number);
  for (const { kind, id } of edits.put) {
    if (registry.get(kind).ids === 'integer') reach(kind, numberOf(id));
  }
  return Object.keys(next).length === 0 ? numbers : { ...numbers, ...next };
}

/**
 * Applies the edits. Unique values of old versions are released before new ones are stored, so that a value can move
 * from one object to another.
 */
function* applyEdits(registry: Registry, drafts: Drafts, edits: SnapshotEdits): Generator<undefined, void> {
  for (const [at, id] of edits.remove.entries()) {
    if (shouldYield(at)) yield undefined;
    const old = drafts.objects.get(id);
    if (old === undefined) continue;
    drafts.objects.delete(id);
    releaseKeys(registry, drafts, old);
    moveBetweenSets(registry, drafts, old, undefined);
  }
  const replaced = new Map<string, StoredObject>();
  for (const [at, { id }] of edits.put.entries()) {
    if (shouldYield(at)) yield undefined;
    const old = drafts.objects.get(id);
    if (old === undefined) continue;
    releaseKeys(registry, drafts, old);
    replaced.set(id, old);
  }
  for (const [at, object] of edits.put.entries()) {
    if (shouldYield(at)) yield undefined;
    drafts.objects.set(object.id, object);
    storeKeys(registry, drafts, object);
    moveBetweenSets(registry, drafts, replaced.get(object.id), object);
    replaced.set(object.id, object);
  }
}

function releaseKeys(registry: Registry, { unique }: Drafts, object: StoredObject): void {
  for (const { rule, value } of facetsOf(registry, object).keys) {
    const entry = indexKey(object.kind, rule, value);
    if (unique.get(entry) === object.id) unique.delete(entry);
  }
}

function storeKeys(registry: Registry, { unique }: Drafts, object: StoredObject): void {
  for (const { rule, value } of facetsOf(registry, object).keys) {
    const entry = indexKey(object.kind, rule, value);
    // The first holder keeps the value; the planner reports the second one.
    if (unique.get(entry) === undefined) unique.set(entry, object.id);
  }
}

/**
 * Updates the sets in which an object is indexed. Most of them contain both versions, so only the differing ones are
 * touched.
 */
function moveBetweenSets(
  registry: Registry,
  drafts: Drafts,
  before: StoredObject | undefined,
  after: StoredObject | undefined,
): void {
  const object = after ?? before;
  if (object === undefined) return;
  const { id, kind } = object;
  if (before === undefined || after === undefined) {
    const changes = drafts.kinds.get(kind) ?? new Map<string, true | undefined>();
    drafts.kinds.set(kind, changes.set(id, after === undefined ? undefined : true));
  }
  const [former, present] = [setsOf(registry, before), setsOf(registry, after)];
  for (const source of without(former.sources, present.sources)) drafts.sources.drop(source, id);
  for (const source of without(present.sources, former.sources)) drafts.sources.add(source, id);
  for (const entry of without(former.indexes, present.indexes)) drafts.index.drop(entry, id);
  for (const entry of without(present.indexes, former.indexes)) drafts.index.add(entry, id);
  for (const { field, to } of linksWithout(former.links, present.links)) unlink(drafts, object, field, to);
  for (const { field, to } of linksWithout(present.links, former.links)) link(drafts, object, field, to);
  for (const field of membershipFields(registry.get(kind).spec)) {
    for (const { id: to, was, is } of changedMembers(before, after, field)) {
      if (is.length === 0) unlink(drafts, object, field, to);
      else if (was.length === 0) link(drafts, object, field, to);
    }
  }
}

/** Sets that contain the id of an object, except the set of its kind. */
interface ObjectSets {
  readonly sources: readonly string[];
  readonly indexes: readonly string[];
  readonly links: readonly Reference[];
}

const noSets: ObjectSets = { sources: [], indexes: [], links: [] };

function setsOf(registry: Registry, object: StoredObject | undefined): ObjectSets {
  if (object === undefined) return noSets;
  const { indexes, links } = facetsOf(registry, object);
  const found = indexes.map(({ index, value }) => indexKey(object.kind, index, value));
  if (object.parent !== undefined) found.push(indexKey(object.kind, parentField, object.parent));
  return { sources: sourcesOf(object), indexes: found, links };
}

/** Returns the texts that only the first list contains. */
function without(texts: readonly string[], others: readonly string[]): readonly string[] {
  return others.length === 0 ? texts : texts.filter((text) => !others.includes(text));
}

/**
 * Returns the references that only the first list contains. Skips the common prefix first: usually both lists begin
 * with the same references, and an object may have thousands.
 */
function linksWithout(links: readonly Reference[], others: readonly Reference[]): readonly Reference[] {
  let same = 0;
  while (same < links.length && isSameLink(links[same], others[same])) same += 1;
  if (same === links.length || others.length === 0) return links.slice(same);
  const there = new Set(others.slice(same).map(({ field, to }) => `${field}${referrerSeparator}${to}`));
  return links.slice(same).filter(({ field, to }) => !there.has(`${field}${referrerSeparator}${to}`));
}

function isSameLink(a: Reference | undefined, b: Reference | undefined): boolean {
  return a !== undefined && b !== undefined && a.to === b.to && a.field === b.field;
}

function link(drafts: Drafts, { id, kind }: StoredObject, field: string, to: string): void {
  if (drafts.referrers.add(to, `${id}${referrerSeparator}${field}`)) adjustCount(drafts, to, kind, field, 1);
}

function unlink(drafts: Drafts, { id, kind }: StoredObject, field: string, to: string): void {
  if (drafts.referrers.drop(to, `${id}${referrerSeparator}${field}`)) adjustCount(drafts, to, kind, field, -1);
}

function sourcesOf({ declared, owner }: StoredObject): readonly string[] {
  const sources = new Set(declared.map(({ source }) => source));
  if (owner !== undefined) sources.add(owner);
  return [...sources];
}

function adjustCount(drafts: Drafts, to: string, kind: string, field: string, by: number): void {
  const entry = countKey(to, kind, field);
  const sum = (drafts.counts.get(entry) ?? 0) + by;
  if (sum === 0) drafts.counts.delete(entry);
  else drafts.counts.set(entry, sum);
}
