import { emptyMap, type MapDraft, type PersistentMap } from '../lib/persistent-map.ts';
import { facetsOf, parentField } from './facets.ts';
import type { State } from './kind.ts';
import type { StoredObject } from './object.ts';
import type { Registry } from './registry.ts';
import { plainSettings, type SourceSettings } from './source-settings.ts';
import { numberOf } from './wire-id.ts';

/** What a step from one snapshot to the next puts in and takes out. */
export interface Edits {
  readonly put: readonly StoredObject[];
  readonly remove: readonly string[];
  /** Last numbers of counted kinds, when others than these objects' are known. */
  readonly numbers?: Readonly<Record<string, number>>;
}

/**
 * The image of an account's objects at one revision. Immutable: `with` gives the next one and shares what did not
 * change, so planning on a snapshot, branching it and keeping the old one cost only the change.
 */
export interface Snapshot extends State {
  readonly registry: Registry;
  readonly revision: number;
  readonly size: number;
  findByKey(kind: string, key: string): StoredObject | undefined;
  /** The object that holds a unique value, if any. */
  holderOf(kind: string, rule: string, value: string): StoredObject | undefined;
  objects(): Iterable<StoredObject>;
  /** Objects whose life cycle a source owns or about which it states something. */
  declaredBy(source: string): readonly StoredObject[];
  /** The last number that the account gave to an object of a counted kind. */
  lastNumber(kind: string): number;
  /** All last numbers, by kind. */
  numbers(): Readonly<Record<string, number>>;
  /** Every source that owns or states anything. */
  sources(): Iterable<string>;
  /** How the documents of a source are applied at this revision. */
  settingsOf(source: string): SourceSettings;
  /** The settings of all sources that have some. */
  settings(): ReadonlyMap<string, SourceSettings>;
  /** The same objects under other settings of sources. */
  withSettings(settings: ReadonlyMap<string, SourceSettings>): Snapshot;
  with(edits: Edits, revision?: number): Snapshot;
  /** The same objects, looked at by somebody at some moment. */
  seen(view: View): State;
}

/** Who looks at a state, and when. */
export type View = Required<Pick<State, 'now' | 'viewer'>>;

/** Ids in an index entry. */
type Ids = PersistentMap<true>;

interface Tables {
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
}

/** The snapshot of an account without objects; `numbers` are the last ones that it gave to objects of counted kinds. */
export function emptySnapshot(
  registry: Registry,
  account: string,
  revision = 0,
  numbers: Readonly<Record<string, number>> = {},
): Snapshot {
  const tables: Tables = {
    objects: emptyMap(),
    kinds: emptyMap(),
    unique: emptyMap(),
    index: emptyMap(),
    referrers: emptyMap(),
    counts: emptyMap(),
    sources: emptyMap(),
    numbers,
    settings: new Map(),
  };
  return new AccountSnapshot(registry, account, revision, tables);
}

const separator = '\0';

function compareIds(a: StoredObject, b: StoredObject): number {
  return a.id < b.id ? -1 : 1;
}

class AccountSnapshot implements Snapshot {
  readonly registry: Registry;
  readonly account: string;
  readonly revision: number;
  readonly now?: string;
  readonly viewer?: string;
  readonly #tables: Tables;

  constructor(registry: Registry, account: string, revision: number, tables: Tables, view?: View) {
    this.registry = registry;
    this.account = account;
    this.revision = revision;
    this.#tables = tables;
    if (view === undefined) return;
    this.now = view.now;
    this.viewer = view.viewer;
  }

  get size(): number {
    return this.#tables.objects.size;
  }

  get(id: string): StoredObject | undefined {
    return this.#tables.objects.get(id);
  }

  objects(): Iterable<StoredObject> {
    return this.#tables.objects.values();
  }

  ofKind(kind: string): readonly StoredObject[] {
    return this.#all(this.#tables.kinds.get(kind));
  }

  countOf(kind: string): number {
    return this.#tables.kinds.get(kind)?.size ?? 0;
  }

  childrenOf(parent: string, kind: string): readonly StoredObject[] {
    return this.#all(this.#tables.index.get([kind, parentField, parent].join(separator)));
  }

  lookUp(kind: string, index: string, value: string): readonly StoredObject[] {
    return this.#all(this.#tables.index.get([kind, index, value].join(separator)));
  }

  findByKey(kind: string, key: string): StoredObject | undefined {
    return this.holderOf(kind, 'key', key);
  }

  holderOf(kind: string, rule: string, value: string): StoredObject | undefined {
    const id = this.#tables.unique.get([kind, rule, value].join(separator));
    return id === undefined ? undefined : this.get(id);
  }

  referrersOf(id: string): readonly { readonly from: StoredObject; readonly field: string }[] {
    const found: { readonly from: StoredObject; readonly field: string }[] = [];
    for (const entry of this.#tables.referrers.get(id)?.keys() ?? []) {
      const at = entry.indexOf(separator);
      const from = this.get(entry.slice(0, at));
      if (from !== undefined) found.push({ from, field: entry.slice(at + 1) });
    }
    return found.sort((a, b) => compareIds(a.from, b.from));
  }

  countReferrers(id: string, kind: string, field: string): number {
    return this.#tables.counts.get([id, kind, field].join(separator)) ?? 0;
  }

  declaredBy(source: string): readonly StoredObject[] {
    return this.#all(this.#tables.sources.get(source));
  }

  lastNumber(kind: string): number {
    return this.#tables.numbers[kind] ?? 0;
  }

  numbers(): Readonly<Record<string, number>> {
    return this.#tables.numbers;
  }

  sources(): Iterable<string> {
    return this.#tables.sources.keys();
  }

  settingsOf(source: string): SourceSettings {
    return this.#tables.settings.get(source) ?? plainSettings;
  }

  settings(): ReadonlyMap<string, SourceSettings> {
    return this.#tables.settings;
  }

  withSettings(settings: ReadonlyMap<string, SourceSettings>): Snapshot {
    return new AccountSnapshot(this.registry, this.account, this.revision, { ...this.#tables, settings });
  }

  with(edits: Edits, revision = this.revision): Snapshot {
    return new AccountSnapshot(this.registry, this.account, revision, edit(this.registry, this.#tables, edits));
  }

  seen(view: View): State {
    return new AccountSnapshot(this.registry, this.account, this.revision, this.#tables, view);
  }

  #all(ids: Ids | undefined): readonly StoredObject[] {
    const found: StoredObject[] = [];
    for (const id of ids?.keys() ?? []) {
      const object = this.get(id);
      if (object !== undefined) found.push(object);
    }
    return found.sort(compareIds);
  }
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

function edit(registry: Registry, tables: Tables, edits: Edits): Tables {
  const kinds = new Buckets(tables.kinds);
  const index = new Buckets(tables.index);
  const referrers = new Buckets(tables.referrers);
  const sources = new Buckets(tables.sources);
  let { objects, unique, counts } = tables;
  objects = objects.edit((objectDraft) => {
    unique = unique.edit((uniqueDraft) => {
      counts = counts.edit((countDraft) => {
        const drafts = {
          objects: objectDraft,
          unique: uniqueDraft,
          counts: countDraft,
          kinds,
          index,
          referrers,
          sources,
        };
        replaceAll(registry, drafts, edits);
      });
    });
  });
  return {
    objects,
    unique,
    counts,
    kinds: kinds.close(),
    index: index.close(),
    referrers: referrers.close(),
    sources: sources.close(),
    numbers: countOn(registry, tables.numbers, edits),
    settings: tables.settings,
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
function replaceAll(registry: Registry, drafts: Drafts, edits: Edits): void {
  for (const id of [...edits.remove, ...edits.put.map((object) => object.id)]) {
    const old = drafts.objects.get(id);
    if (old !== undefined) takeOut(registry, drafts, old);
  }
  for (const object of edits.put) putIn(registry, drafts, object);
}

function takeOut(registry: Registry, drafts: Drafts, object: StoredObject): void {
  drafts.objects.delete(object.id);
  drafts.kinds.drop(object.kind, object.id);
  for (const source of sourcesOf(object)) drafts.sources.drop(source, object.id);
  if (object.parent !== undefined)
    drafts.index.drop([object.kind, parentField, object.parent].join(separator), object.id);
  const { keys, indexes, references } = facetsOf(registry, object);
  for (const { rule, value } of keys) {
    const entry = [object.kind, rule, value].join(separator);
    if (drafts.unique.get(entry) === object.id) drafts.unique.delete(entry);
  }
  for (const { index, value } of indexes) drafts.index.drop([object.kind, index, value].join(separator), object.id);
  for (const { field, to } of references) {
    if (drafts.referrers.drop(to, `${object.id}${separator}${field}`)) count(drafts, to, object.kind, field, -1);
  }
}

function putIn(registry: Registry, drafts: Drafts, object: StoredObject): void {
  drafts.objects.set(object.id, object);
  drafts.kinds.add(object.kind, object.id);
  for (const source of sourcesOf(object)) drafts.sources.add(source, object.id);
  if (object.parent !== undefined)
    drafts.index.add([object.kind, parentField, object.parent].join(separator), object.id);
  const { keys, indexes, references } = facetsOf(registry, object);
  for (const { rule, value } of keys) {
    const entry = [object.kind, rule, value].join(separator);
    // The first holder stays: the planner reports the second one.
    if (drafts.unique.get(entry) === undefined) drafts.unique.set(entry, object.id);
  }
  for (const { index, value } of indexes) drafts.index.add([object.kind, index, value].join(separator), object.id);
  for (const { field, to } of references) {
    if (drafts.referrers.add(to, `${object.id}${separator}${field}`)) count(drafts, to, object.kind, field, 1);
  }
}

function sourcesOf(object: StoredObject): Iterable<string> {
  const sources = new Set(object.declared.map((declaration) => declaration.source));
  if (object.owner !== undefined) sources.add(object.owner);
  return sources;
}

function count(drafts: Drafts, to: string, kind: string, field: string, by: number): void {
  const entry = [to, kind, field].join(separator);
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

  close(): PersistentMap<Ids> {
    return this.#map.edit((draft) => {
      for (const [bucket, changes] of this.#changes) {
        const ids = (draft.get(bucket) ?? emptyMap<true>()).edit((set) => {
          for (const [element, present] of changes) {
            if (present) set.set(element, true);
            else set.delete(element);
          }
        });
        if (ids.size === 0) draft.delete(bucket);
        else draft.set(bucket, ids);
      }
    });
  }
}
