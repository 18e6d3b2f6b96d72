import { runToEnd } from '../../lib/steps.ts';
import type { State } from '../declare/kind.ts';
import type { Registry } from '../declare/registry.ts';
import type { SealForm } from '../schema/sealing.ts';
import { defaultSettings, type SourceSettings } from '../sources/settings.ts';
import type { IdSet } from './buckets.ts';
import { countKey, indexKey, parentField } from './facets.ts';
import type { StoredObject } from './object.ts';
import type { ObservationLookup } from './observed.ts';
import {
  changedParts,
  editTables,
  emptyTables,
  referrerSeparator,
  type SnapshotEdits,
  type Tables,
} from './snapshot-tables.ts';
import type { FieldNameOf, ObjectOf } from './stored.ts';

/**
 * Image of an account's objects at one revision. Immutable: `with` returns the next snapshot, which shares the
 * unchanged parts. Planning on a snapshot, branching it or keeping the old one therefore costs only the change.
 */
export interface Snapshot extends State {
  readonly registry: Registry;
  readonly revision: number;
  readonly size: number;
  findByKey<Name extends string>(kind: Name, key: string): ObjectOf<Name> | undefined;
  /**
   * Returns the objects of a kind whose ids follow `id`, or all without `id`, sorted by id. Lazy: objects that the
   * caller does not consume cost nothing.
   */
  ofKindAfter(kind: string, id?: string): Iterable<StoredObject>;
  objects(): Iterable<StoredObject>;
  /** Returns the objects that a source owns or about which it states something. */
  declaredBy(source: string): readonly StoredObject[];
  /** Returns the last number that the account assigned to an object of a counted kind. */
  lastNumber(kind: string): number;
  /** Returns the last numbers of all counted kinds, by kind. */
  numbers(): Readonly<Record<string, number>>;
  /** Returns every source that owns or states anything. */
  sources(): Iterable<string>;
  /**
   * Returns the settings by which the documents of a source are applied at this revision. Defaults when the source has
   * none.
   */
  settingsOf(source: string): SourceSettings;
  /** Returns the settings of all sources that have stored settings. */
  settings(): ReadonlyMap<string, SourceSettings>;
  /** Form in which secrets of the account are currently sealed. */
  readonly sealForm: SealForm;
  /** Returns the same objects with another form for sealing secrets. */
  withSealForm(form: SealForm): Snapshot;
  /**
   * Sequence number of the last change of pending claims, if no source of the account had any at that time. `undefined`
   * when some source has claims, or when this was not read. Claims change without a revision, so the number may be
   * outdated.
   */
  readonly noClaimsSequence: number | undefined;
  /** Returns the same objects with another `noClaimsSequence`. */
  withNoClaimsSequence(sequence: number | undefined): Snapshot;
  /** Returns the same objects with other settings of sources. */
  withSettings(settings: ReadonlyMap<string, SourceSettings>): Snapshot;
  with(edits: SnapshotEdits, revision?: number): Snapshot;
  /** Like `with`, but yields regularly, for many edits. */
  withInSteps(edits: SnapshotEdits, revision?: number): Generator<undefined, Snapshot>;
  /** Returns the parts of the state that differ from an earlier snapshot; see `partKeys`. */
  changedPartsSince(before: Snapshot): ReadonlySet<string>;
  /** Returns the ids of the objects that were created, changed or deleted since an earlier snapshot. */
  changedSince(before: Snapshot): ReadonlySet<string>;
  /** Returns the ids of the objects of a kind that were created, changed or deleted since an earlier snapshot. */
  changedOfKind(kind: string, before: Snapshot): ReadonlySet<string>;
  /** Returns the same objects as a given caller sees them at a given time. */
  viewedAs(view: Viewpoint): State;
}

/** Time and viewer for which a state is read, with the look-ups that answers may need. */
export type Viewpoint = Required<Pick<State, 'now' | 'viewer'>> &
  Pick<State, 'countAccessible' | 'disapproval' | 'observed'>;

/** Returns the snapshot of an account without objects. `numbers`: last numbers of counted kinds. */
export function emptySnapshot(
  registry: Registry,
  account: string,
  revision = 0,
  numbers: Readonly<Record<string, number>> = {},
): Snapshot {
  return new AccountSnapshot(registry, account, revision, emptyTables(numbers));
}

/** Casts an object to the types of its kind. Safe, because every writer normalizes objects by the declared fields. */
function castToKind<Name extends string>(object: StoredObject): ObjectOf<Name> {
  return object as ObjectOf<Name>;
}

function compareIds(a: StoredObject, b: StoredObject): number {
  return a.id < b.id ? -1 : 1;
}

class AccountSnapshot implements Snapshot {
  readonly registry: Registry;
  readonly account: string;
  readonly revision: number;
  readonly now?: string;
  readonly viewer?: string;
  readonly countAccessible?: (peer: string) => number;
  readonly disapproval?: (peer: string) => string | undefined;
  readonly observed?: ObservationLookup;
  readonly #tables: Tables;

  constructor(registry: Registry, account: string, revision: number, tables: Tables, view?: Viewpoint) {
    this.registry = registry;
    this.account = account;
    this.revision = revision;
    this.#tables = tables;
    if (view === undefined) return;
    this.now = view.now;
    this.viewer = view.viewer;
    if (view.countAccessible !== undefined) this.countAccessible = view.countAccessible;
    if (view.disapproval !== undefined) this.disapproval = view.disapproval;
    if (view.observed !== undefined) this.observed = view.observed;
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

  find<Name extends string>(kind: Name, id: string): ObjectOf<Name> | undefined {
    const object = this.get(id);
    return object?.kind === kind ? castToKind<Name>(object) : undefined;
  }

  ofKind<Name extends string>(kind: Name): readonly ObjectOf<Name>[] {
    return this.#existing<Name>(this.#tables.kinds.get(kind)?.keys() ?? []);
  }

  *ofKindAfter(kind: string, id = ''): Iterable<StoredObject> {
    for (const one of this.#tables.kinds.get(kind)?.keysAfter(id) ?? []) {
      const object = this.get(one);
      if (object !== undefined) yield object;
    }
  }

  countOf(kind: string): number {
    return this.#tables.kinds.get(kind)?.size ?? 0;
  }

  childrenOf<Name extends string>(parent: string, kind: Name): readonly ObjectOf<Name>[] {
    return this.#all(this.#tables.index.get(indexKey(kind, parentField, parent)));
  }

  lookUp<Name extends string>(kind: Name, index: string, value: string): readonly ObjectOf<Name>[] {
    return this.#all(this.#tables.index.get(indexKey(kind, index, value)));
  }

  findByKey<Name extends string>(kind: Name, key: string): ObjectOf<Name> | undefined {
    return this.findByUnique(kind, 'key', key);
  }

  findByUnique<Name extends string>(kind: Name, rule: string, value: string): ObjectOf<Name> | undefined {
    const id = this.#tables.unique.get(indexKey(kind, rule, value));
    return id === undefined ? undefined : this.find(kind, id);
  }

  referrersOf(id: string): readonly { readonly from: StoredObject; readonly field: string }[] {
    const found: { readonly from: StoredObject; readonly field: string }[] = [];
    for (const entry of this.#tables.referrers.get(id)?.keys() ?? []) {
      const at = entry.indexOf(referrerSeparator);
      const from = this.get(entry.slice(0, at));
      if (from !== undefined) found.push({ from, field: entry.slice(at + 1) });
    }
    return found.sort((a, b) => compareIds(a.from, b.from));
  }

  referrersBy<Name extends string>(kind: Name, field: FieldNameOf<Name>, id: string): readonly ObjectOf<Name>[] {
    const found = this.referrersOf(id).filter((referrer) => referrer.field === field && referrer.from.kind === kind);
    return found.map(({ from }) => castToKind<Name>(from));
  }

  countReferrers(id: string, kind: string, field: string): number {
    return this.#tables.counts.get(countKey(id, kind, field)) ?? 0;
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
    return this.#tables.settings.get(source) ?? defaultSettings;
  }

  settings(): ReadonlyMap<string, SourceSettings> {
    return this.#tables.settings;
  }

  get sealForm(): SealForm {
    return this.#tables.sealForm;
  }

  withSealForm(sealForm: SealForm): Snapshot {
    if (sealForm === this.sealForm) return this;
    return new AccountSnapshot(this.registry, this.account, this.revision, { ...this.#tables, sealForm });
  }

  get noClaimsSequence(): number | undefined {
    return this.#tables.noClaimsSequence;
  }

  withNoClaimsSequence(unclaimed: number | undefined): Snapshot {
    if (unclaimed === this.noClaimsSequence) return this;
    return new AccountSnapshot(this.registry, this.account, this.revision, {
      ...this.#tables,
      noClaimsSequence: unclaimed,
    });
  }

  withSettings(settings: ReadonlyMap<string, SourceSettings>): Snapshot {
    return new AccountSnapshot(this.registry, this.account, this.revision, { ...this.#tables, settings });
  }

  with(edits: SnapshotEdits, revision = this.revision): Snapshot {
    return runToEnd(this.withInSteps(edits, revision));
  }

  *withInSteps(edits: SnapshotEdits, revision = this.revision): Generator<undefined, Snapshot> {
    const tables = yield* editTables(this.registry, this.#tables, edits);
    return new AccountSnapshot(this.registry, this.account, revision, tables);
  }

  changedPartsSince(before: Snapshot): ReadonlySet<string> {
    // The cast is safe: there is only one class of snapshots.
    return changedParts((before as AccountSnapshot).#tables, this.#tables);
  }

  changedSince(before: Snapshot): ReadonlySet<string> {
    // The cast is safe: there is only one class of snapshots.
    return this.#tables.objects.changedSince((before as AccountSnapshot).#tables.objects);
  }

  changedOfKind(kind: string, before: Snapshot): ReadonlySet<string> {
    // The cast is safe: there is only one class of snapshots.
    const old = (before as AccountSnapshot).#tables;
    const ids = this.#tables.objects.changedSince(old.objects);
    return new Set([...ids].filter((id) => (this.get(id) ?? old.objects.get(id))?.kind === kind));
  }

  viewedAs(view: Viewpoint): State {
    return new AccountSnapshot(this.registry, this.account, this.revision, this.#tables, view);
  }

  #all<Name extends string>(ids: IdSet | undefined): readonly ObjectOf<Name>[] {
    return this.#existing<Name>(ids?.keys() ?? []).sort(compareIds);
  }

  #existing<Name extends string>(ids: Iterable<string>): ObjectOf<Name>[] {
    const found: ObjectOf<Name>[] = [];
    for (const id of ids) {
      const object = this.get(id);
      if (object !== undefined) found.push(castToKind<Name>(object));
    }
    return found;
  }
}
