import { emptyMap, type MapDraft, type PersistentMap } from '../../lib/persistent-map.ts';
import { isTurn } from '../../lib/steps.ts';
import type { Registry } from '../declare/registry.ts';
import { numberOf } from '../declare/wire-id.ts';
import type { SealForm } from '../schema/sealing.ts';
import type { SourceSettings } from '../sources/settings.ts';
import { countKey, facetsOf, indexKey, parentField, parts } from './facets.ts';
import { membershipFields, movedMembers } from './members.ts';
import type { StoredObject } from './object.ts';

/** What a step from one snapshot to the next puts in and takes out. */
export interface Edits {
  readonly put: readonly StoredObject[];
  readonly remove: readonly string[];
  /** Last numbers of counted kinds, when others than these objects' are known. */
  readonly numbers?: Readonly<Record<string, number>>;
}

/** Ids in an index entry. */
export type Ids = PersistentMap<true>;

/** Everything that a snapshot holds, in maps that share what did not change. */
export interface Tables {
  readonly objects: PersistentMap<StoredObject>;
  readonly kinds: PersistentMap<Ids>;
  /** `kind\0rule\0value` to id. */
  readonly unique: PersistentMap<string>;
  /** `kind\0index\0value` to ids. */
  readonly index: PersistentMap<Ids>;
  /** `id` to `from\0field`. */
  readonly referrers: PersistentMap<Ids>;
  /** `id\0kind\0field` to how many. */
  readonly counts: PersistentMap<number>;
  readonly sources: PersistentMap<Ids>;
  readonly numbers: Readonly<Record<string, number>>;
  readonly settings: ReadonlyMap<string, SourceSettings>;
  readonly sealForm: SealForm;
  readonly unclaimed: number | undefined;
}

/** Between an id and a field in the entries of `referrers`. */
export const separator = '\0';

/** The tables of an account without objects. */
export function emptyTables(numbers: Readonly<Record<string, number>>): Tables {
  return {
    objects: emptyMap(),
    kinds: emptyMap(),
    unique: emptyMap(),
    index: emptyMap(),
    referrers: emptyMap(),
    counts: emptyMap(),
    sources: emptyMap(),
    numbers,
    settings: new Map(),
    // What no server of an earlier release ever read.
    sealForm: 'bound',
    unclaimed: undefined,
  };
}

/** The parts of a state that are others than before. */
export function changedParts(before: Tables, after: Tables): ReadonlySet<string> {
  const changed = new Set<string>();
  for (const id of after.objects.changedSince(before.objects)) {
    changed.add(parts.object(id));
    for (const object of [before.objects.get(id), after.objects.get(id)])
      if (object !== undefined) changed.add(parts.objectsOf(object.kind));
  }
  for (const key of after.index.changedSince(before.index)) changed.add(parts.entry(key));
  for (const key of after.referrers.changedSince(before.referrers)) changed.add(parts.referrers(key));
  for (const key of after.counts.changedSince(before.counts)) changed.add(parts.count(key));
  return changed;
}

interface Drafts {
  readonly objects: MapDraft<StoredObject>;
  readonly unique: MapDraft<string>;
  readonly counts: MapDraft<number>;
  readonly kinds: Buckets;
  readonly index: Buckets;
  readonly referrers: Buckets;
  readonly sources: Buckets;
}

/** The tables after a step. Yields now and then. */
export function* editTables(registry: Registry, tables: Tables, edits: Edits): Generator<undefined, Tables> {
  const kinds = new Buckets(tables.kinds);
  const index = new Buckets(tables.index);
  const referrers = new Buckets(tables.referrers);
  const sources = new Buckets(tables.sources);
  const [objects, unique, counts] = [tables.objects.open(), tables.unique.open(), tables.counts.open()];
  yield* replaceAll(registry, { objects, unique, counts, kinds, index, referrers, sources }, edits);
  return {
    objects: objects.close(),
    unique: unique.close(),
    counts: counts.close(),
    kinds: yield* kinds.close(),
    index: yield* index.close(),
    referrers: yield* referrers.close(),
    sources: yield* sources.close(),
    numbers: countOn(registry, tables.numbers, edits),
    settings: tables.settings,
    sealForm: tables.sealForm,
    unclaimed: tables.unclaimed,
  };
}

/** Numbers only grow: that of a deleted object is never given again. */
function countOn(
  registry: Registry,
  numbers: Readonly<Record<string, number>>,
  edits: Edits,
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

/** Everything that goes leaves before anything comes, so that unique values can move from one object to another. */
function* replaceAll(registry: Registry, drafts: Drafts, edits: Edits): Generator<undefined, void> {
  for (const [at, id] of edits.remove.entries()) {
    if (isTurn(at)) yield undefined;
    const old = drafts.objects.get(id);
    if (old === undefined) continue;
    takeOut(registry, drafts, old);
    moveMembers(registry, drafts, old, undefined);
  }
  // Of an object that stays, memberships are compared: they may be many, and few of them move.
  const replaced = new Map<string, StoredObject>();
  for (const [at, { id }] of edits.put.entries()) {
    if (isTurn(at)) yield undefined;
    const old = drafts.objects.get(id);
    if (old === undefined) continue;
    takeOut(registry, drafts, old);
    replaced.set(id, old);
  }
  for (const [at, object] of edits.put.entries()) {
    if (isTurn(at)) yield undefined;
    putIn(registry, drafts, object);
    moveMembers(registry, drafts, replaced.get(object.id), object);
    replaced.set(object.id, object);
  }
}

function takeOut(registry: Registry, drafts: Drafts, object: StoredObject): void {
  drafts.objects.delete(object.id);
  drafts.kinds.drop(object.kind, object.id);
  for (const source of sourcesOf(object)) drafts.sources.drop(source, object.id);
  if (object.parent !== undefined) drafts.index.drop(indexKey(object.kind, parentField, object.parent), object.id);
  const { keys, indexes, links } = facetsOf(registry, object);
  for (const { rule, value } of keys) {
    const entry = indexKey(object.kind, rule, value);
    if (drafts.unique.get(entry) === object.id) drafts.unique.delete(entry);
  }
  for (const { index, value } of indexes) drafts.index.drop(indexKey(object.kind, index, value), object.id);
  for (const { field, to } of links) unlink(drafts, object, field, to);
}

function putIn(registry: Registry, drafts: Drafts, object: StoredObject): void {
  drafts.objects.set(object.id, object);
  drafts.kinds.add(object.kind, object.id);
  for (const source of sourcesOf(object)) drafts.sources.add(source, object.id);
  if (object.parent !== undefined) drafts.index.add(indexKey(object.kind, parentField, object.parent), object.id);
  const { keys, indexes, links } = facetsOf(registry, object);
  for (const { rule, value } of keys) {
    const entry = indexKey(object.kind, rule, value);
    // The first holder stays: the planner reports the second one.
    if (drafts.unique.get(entry) === undefined) drafts.unique.set(entry, object.id);
  }
  for (const { index, value } of indexes) drafts.index.add(indexKey(object.kind, index, value), object.id);
  for (const { field, to } of links) link(drafts, object, field, to);
}

function moveMembers(
  registry: Registry,
  drafts: Drafts,
  before: StoredObject | undefined,
  after: StoredObject | undefined,
): void {
  const object = after ?? before;
  if (object === undefined) return;
  for (const field of membershipFields(registry.get(object.kind).spec)) {
    for (const { id, was, is } of movedMembers(before, after, field)) {
      if (is.length === 0) unlink(drafts, object, field, id);
      else if (was.length === 0) link(drafts, object, field, id);
    }
  }
}

function link(drafts: Drafts, { id, kind }: StoredObject, field: string, to: string): void {
  if (drafts.referrers.add(to, `${id}${separator}${field}`)) count(drafts, to, kind, field, 1);
}

function unlink(drafts: Drafts, { id, kind }: StoredObject, field: string, to: string): void {
  if (drafts.referrers.drop(to, `${id}${separator}${field}`)) count(drafts, to, kind, field, -1);
}

function sourcesOf(object: StoredObject): Iterable<string> {
  const sources = new Set(object.declared.map((declaration) => declaration.source));
  if (object.owner !== undefined) sources.add(object.owner);
  return sources;
}

function count(drafts: Drafts, to: string, kind: string, field: string, by: number): void {
  const entry = countKey(to, kind, field);
  const sum = (drafts.counts.get(entry) ?? 0) + by;
  if (sum === 0) drafts.counts.delete(entry);
  else drafts.counts.set(entry, sum);
}

/** A map of sets under edit: the sets that change are gathered and written back once. */
class Buckets {
  readonly #map: PersistentMap<Ids>;
  readonly #changes = new Map<string, Map<string, boolean>>();

  constructor(map: PersistentMap<Ids>) {
    this.#map = map;
  }

  /** Whether the element was not there before. */
  add(bucket: string, element: string): boolean {
    return this.#change(bucket, element, true);
  }

  /** Whether the element was there before. */
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

  *close(): Generator<undefined, PersistentMap<Ids>> {
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
