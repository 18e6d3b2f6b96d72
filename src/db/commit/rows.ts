import { equalJson, type Json, type JsonObject } from '../../lib/json.ts';
import { sha256 } from '../../lib/node-pure.ts';
import { forEachInSteps, runToEnd, shouldYield } from '../../lib/steps.ts';
import { changedReferences, facetsOf, type Reference } from '../../model/state/facets.ts';
import { changedSortKeys, originsOf } from '../../model/state/members.ts';
import type { Declaration, StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { Plan } from '../../plan/plan.ts';

/** Rows to delete, insert and update to get from one snapshot to another. Members are named like the columns. */
export interface RowChanges {
  readonly insertObjects: readonly JsonObject[];
  readonly updateObjects: readonly JsonObject[];
  readonly deleteObjects: readonly JsonObject[];
  /** Deleted objects whose credentials are stored in separate tables. */
  readonly deleteCredentialHolders: readonly JsonObject[];
  readonly insertKeys: readonly JsonObject[];
  readonly deleteKeys: readonly JsonObject[];
  readonly insertReferences: readonly JsonObject[];
  readonly deleteReferences: readonly JsonObject[];
  /** References that stay, with a changed sort key. */
  readonly moveReferences: readonly JsonObject[];
  readonly putDeclared: readonly JsonObject[];
  readonly dropDeclared: readonly JsonObject[];
  /** Directory entries of objects with overrides. */
  readonly putOverrides: readonly JsonObject[];
  readonly dropOverrides: readonly JsonObject[];
  /** Directory entries by which objects are found across accounts. */
  readonly insertEntries: readonly JsonObject[];
  readonly deleteEntries: readonly JsonObject[];
  /** Objects to which audit events are delivered. */
  readonly insertDeliveries: readonly JsonObject[];
  readonly deleteDeliveries: readonly JsonObject[];
}

/** `RowChanges` while its lists are filled. */
type GrowingRows = { readonly [List in keyof RowChanges]: JsonObject[] };

function noRows(): GrowingRows {
  return {
    insertObjects: [],
    updateObjects: [],
    deleteObjects: [],
    deleteCredentialHolders: [],
    insertKeys: [],
    deleteKeys: [],
    insertReferences: [],
    deleteReferences: [],
    moveReferences: [],
    putDeclared: [],
    dropDeclared: [],
    putOverrides: [],
    dropOverrides: [],
    insertEntries: [],
    deleteEntries: [],
    insertDeliveries: [],
    deleteDeliveries: [],
  };
}

/**
 * Compares the objects of both snapshots. Each row is written once, however many plans changed it between the
 * snapshots.
 */
export function rowChanges(base: Snapshot, next: Snapshot, touched: Iterable<string>): RowChanges {
  return runToEnd(rowChangesInSteps(base, next, touched));
}

/** Same as `rowChanges`, but yields regularly, and without the rows of objects and declarations of `created`. */
export function* rowChangesInSteps(
  base: Snapshot,
  next: Snapshot,
  touched: Iterable<string>,
  created: CreatedObjects = new Map(),
): Generator<undefined, RowChanges> {
  const rows = noRows();
  let at = 0;
  for (const id of touched) {
    if (shouldYield(at++)) yield undefined;
    const before = base.get(id);
    const after = next.get(id);
    if (before === after) continue;
    const isCreated = created.has(id);
    if (after === undefined) {
      rows.deleteObjects.push({ id });
      if (before !== undefined && next.registry.get(before.kind).credential === 'beside')
        rows.deleteCredentialHolders.push({ id });
    } else if (!isCreated) (before === undefined ? rows.insertObjects : rows.updateObjects).push(objectRow(after));
    collectDifference(keyRows(base, before), keyRows(next, after), rows.deleteKeys, rows.insertKeys);
    collectDifference(linkRows(base, before), linkRows(next, after), rows.deleteReferences, rows.insertReferences);
    const { removed, added } = changedReferences(next.registry, before, after);
    rows.deleteReferences.push(...removed.map((reference) => referenceRow(id, reference)));
    rows.insertReferences.push(...added.map((reference) => memberRow(after, reference)));
    rows.moveReferences.push(...movedRows(before, after, added));
    collectDifference(entryRows(base, before), entryRows(next, after), rows.deleteEntries, rows.insertEntries);
    if (!isCreated) collectDeclaredRows(before, after, rows.putDeclared, rows.dropDeclared);
    collectDifference(
      deliveryRows(base, before),
      deliveryRows(next, after),
      rows.deleteDeliveries,
      rows.insertDeliveries,
    );
    const isHeld = after?.overrides !== undefined;
    if (isHeld !== (before?.overrides !== undefined))
      (isHeld ? rows.putOverrides : rows.dropOverrides).push({ value: `${next.account}/${id}`, subject_id: id });
  }
  return rows;
}

/** Returns the number of rows that the changes write, without the history. */
export function countRows(rows: RowChanges): number {
  return Object.values(rows).reduce((sum: number, list: readonly JsonObject[]) => sum + list.length, 0);
}

/** Ids of new objects, each with the revision that creates it. */
export type CreatedObjects = ReadonlyMap<string, number>;

/**
 * Returns the new objects whose rows contain nothing but the content of the change that creates them. The statement
 * takes these rows from the change: sending the same content again would take a third of the time that a commit of
 * thousands of new objects takes. The image of an object with members is different from its row. Yields regularly.
 */
export function* createdIn(
  base: Snapshot,
  next: Snapshot,
  revisions: readonly CreatingRevision[],
): Generator<undefined, CreatedObjects> {
  const created: (readonly [id: string, revision: number])[] = [];
  for (const { revision, plan } of revisions)
    yield* forEachInSteps(plan.changes, ({ action, after }) => {
      if (action !== 'create' || after === undefined || after.members !== undefined) return;
      if (base.get(after.id) === undefined && next.get(after.id) === after) created.push([after.id, revision]);
    });
  return new Map(created);
}

/** The members of a revision that creates objects. */
interface CreatingRevision {
  readonly revision: number;
  readonly plan: Pick<Plan, 'changes'>;
}

function objectRow(object: StoredObject): JsonObject {
  return {
    id: object.id,
    kind: object.kind,
    parent_id: object.parent ?? null,
    key: object.key ?? null,
    name: object.name,
    // Memberships are stored only as rows of `object_refs`.
    spec: object.spec,
    derived: object.derived,
    owner: object.owner ?? null,
    protected: object.protected,
    overrides: object.overrides ?? [],
    aliases: object.aliases ?? [],
    created_revision: object.createdRevision,
    updated_revision: object.updatedRevision,
    created_at: object.createdAt,
    updated_at: object.updatedAt,
  };
}

type Row = readonly [identity: string, row: JsonObject];

function keyRows(snapshot: Snapshot, object: StoredObject | undefined): readonly Row[] {
  if (object === undefined) return [];
  const { kind, id } = object;
  return facetsOf(snapshot.registry, object).keys.map(({ rule, value }) => [
    `${rule}\n${value}`,
    { kind, rule, value: indexable(value), object_id: id },
  ]);
}

/**
 * Returns the value to store in an index. A row of an index holds 2,704 bytes, so a value of more than 500 characters
 * is stored as its hash, which is as unique. The value is not read back.
 */
function indexable(value: string): string {
  return value.length <= 500 && !value.startsWith('sha256:') ? value : `sha256:${sha256(value)}`;
}

function linkRows(snapshot: Snapshot, object: StoredObject | undefined): readonly Row[] {
  if (object === undefined) return [];
  return facetsOf(snapshot.registry, object).links.map((link) => [
    `${link.field}\n${link.to}`,
    referenceRow(object.id, link),
  ]);
}

/** Returns the row of a member, with its sort key. */
function memberRow(object: StoredObject | undefined, reference: Reference): JsonObject {
  const sort_key = object?.sortKeys?.[reference.field]?.[reference.to] ?? null;
  return { ...referenceRow(object?.id ?? '', reference), sort_key };
}

/** Returns the rows of members whose sort key changed, except rows that are inserted anyway. */
function movedRows(
  before: StoredObject | undefined,
  after: StoredObject | undefined,
  come: readonly Reference[],
): readonly JsonObject[] {
  if (after === undefined) return [];
  const written = new Set(come.map(({ field, to, origin }) => `${field}\n${to}\n${origin}`));
  return changedSortKeys(before, after)
    .flatMap(({ field, id: to }) => originsOf(after, field, to).map((origin) => ({ field, to, origin })))
    .filter(({ field, to, origin }) => !written.has(`${field}\n${to}\n${origin}`))
    .map((reference) => memberRow(after, reference));
}

function referenceRow(from_id: string, { field, to, origin }: Reference): JsonObject {
  return { from_id, field, to_id: to, origin };
}

function entryRows(snapshot: Snapshot, object: StoredObject | undefined): readonly Row[] {
  if (object === undefined) return [];
  return facetsOf(snapshot.registry, object).entries.map(({ kind, value }) => [
    `${kind}\n${value}`,
    { kind, value, subject_id: object.id },
  ]);
}

function deliveryRows(snapshot: Snapshot, object: StoredObject | undefined): readonly Row[] {
  if (object === undefined || snapshot.registry.get(object.kind).delivers !== true) return [];
  return [[object.id, { channel_id: object.id, kind: object.kind }]];
}

function collectDifference(
  before: readonly Row[],
  after: readonly Row[],
  dropped: JsonObject[],
  added: JsonObject[],
): void {
  const old = new Map(before);
  for (const [identity, row] of after) {
    if (!old.delete(identity)) added.push(row);
  }
  dropped.push(...old.values());
}

function collectDeclaredRows(
  before: StoredObject | undefined,
  after: StoredObject | undefined,
  put: JsonObject[],
  drop: JsonObject[],
): void {
  const old = new Map((before?.declared ?? []).map((declaration) => [declaration.source, declaration]));
  for (const declaration of after?.declared ?? []) {
    const known = old.get(declaration.source);
    old.delete(declaration.source);
    if (known === declaration || (known !== undefined && equalJson(asJson(known), asJson(declaration)))) continue;
    put.push({
      object_id: after?.id ?? '',
      source_id: declaration.source,
      stated: declaration.stated,
      file: declaration.file,
      line: declaration.line,
      exclusive: declaration.exclusive ?? false,
    });
  }
  for (const source of old.keys()) drop.push({ object_id: before?.id ?? '', source_id: source });
}

/** Returns a declaration as JSON. It contains only plain data. */
function asJson(declaration: Declaration): Json {
  return { ...declaration };
}
