import type { JsonObject } from '../../lib/json.ts';
import { mapInSteps, runToEnd } from '../../lib/steps.ts';
import type { Actor } from '../../model/declare/actor.ts';
import type { AuditEvent } from '../../model/declare/kind.ts';
import type { Registry } from '../../model/declare/registry.ts';
import { sortMaps } from '../../model/schema/map-order.ts';
import {
  changedSortKeys,
  imageOf,
  type ObjectImage,
  objectFromImage,
  type SortKeyChange,
  withSortKeys,
} from '../../model/state/members.ts';
import type { CommitInfo, Declaration, StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { applyUnits, type UnitChange } from '../../model/state/units.ts';
import type { Change, Claim, Plan } from '../../plan/plan.ts';
import type { CallerToken } from '../accounts/tokens.ts';
import type { SavedPlan } from '../config/plans.ts';
import type { Lease } from '../leases/leases.ts';
import type { PeerStatusUpdate } from '../peers/peer-status.ts';
import type { ClaimUpdate } from '../sources/claims.ts';
import type { KeptValues } from './kept-values.ts';

/** A plan to commit. */
export interface RevisionInput {
  readonly revision: number;
  readonly plan: Plan;
  readonly actor: Actor;
  /** Id of the attempt. After a lost connection it shows whether the commit happened. */
  readonly requestId: string;
  /** HTTP request that caused the plan. Absent when no request did. */
  readonly httpRequest?: string | undefined;
  readonly commitRef?: string | undefined;
  readonly commitInfo?: CommitInfo | undefined;
  readonly planId?: string | undefined;
  /** The plan to store. Absent when it need not be stored. */
  readonly planToStore?: SavedPlan | undefined;
  /** Values that the response to its request shows only once. */
  readonly once?: KeptValues | undefined;
  /** Lease that must be held, otherwise nothing is written. */
  readonly lease?: Lease | undefined;
  /** Token that must still exist, otherwise nothing is written. */
  readonly token?: CallerToken | undefined;
  /** Claims of sources to write with the commit. */
  readonly claims?: PlannedClaims | undefined;
  /** Digest whose approval let the plan through a guard. */
  readonly approved?: string | undefined;
  /**
   * Whether the identity provider of this server also deletes the users that the plan deletes, with their passwords.
   */
  readonly deletesIdpUsers?: boolean;
  /** Time of the commit, in ISO 8601. */
  readonly at: string;
  readonly events: readonly AuditEvent[];
  /** Observed states of peers to store with the plan. */
  readonly statuses?: readonly PeerStatusUpdate[];
}

/** Claims to write with a commit. `claimSequence` is the claim sequence number with which the plan was made. */
export interface PlannedClaims {
  readonly claimSequence: number;
  readonly updates: readonly ClaimUpdate[];
}

/** Returns the rows of `changes` of one revision. */
export function changeRows(input: RevisionInput): readonly JsonObject[] {
  return runToEnd(changeRowsInSteps(input));
}

/** Same as `changeRows`, but yields regularly. */
export function changeRowsInSteps({ revision, plan }: RevisionInput): Generator<undefined, readonly JsonObject[]> {
  return mapInSteps([...plan.changes, ...plan.claims], (change, seq) => changeRow(revision, change, seq));
}

function changeRow(revision: number, change: Change | Claim, seq: number): JsonObject {
  const { id, kind, key, name } = subject(change);
  return {
    revision,
    seq,
    action: change.action,
    kind,
    object_id: id,
    key: key ?? null,
    name,
    // The image contains the whole object already.
    units: change.action === 'create' ? [] : change.units,
    image: imageOfChange(change),
  };
}

function subject(change: Change | Claim): StoredObject {
  const object = change.after ?? change.before;
  if (object === undefined) throw new Error('a change has neither a state before nor a state after');
  return object;
}

/**
 * Content of a change row in addition to `units`: the whole object when it is created or deleted, otherwise the changed
 * members of its envelope.
 */
export type ChangeImage = {
  readonly object?: ObjectImage;
  readonly set?: Partial<Pick<StoredObject, (typeof envelope)[number]>>;
  readonly unset?: readonly string[];
  readonly declared?: { readonly put: readonly Declaration[]; readonly drop: readonly string[] };
  /** Changed positions of members. A member without a key is ordered by its id. */
  readonly sortKeys?: readonly SortKeyChange[];
};

const envelope = [
  'key',
  'name',
  'owner',
  'parent',
  'protected',
  'derived',
  'updatedAt',
  'overrides',
  'aliases',
] as const;

function imageOfChange(change: Change | Claim): ChangeImage {
  const { before, after } = change;
  if (before === undefined || after === undefined) return { object: imageOf(subject(change)) };
  const changed = envelope.filter((member) => JSON.stringify(before[member]) !== JSON.stringify(after[member]));
  const set = Object.fromEntries(
    changed.filter((member) => after[member] !== undefined).map((member) => [member, after[member]]),
  );
  const unset = changed.filter((member) => after[member] === undefined);
  const put = after.declared.filter((declaration) => !before.declared.includes(declaration));
  const kept = new Set(after.declared.map((declaration) => declaration.source));
  const moved = changedSortKeys(before, after);
  const drop = before.declared.map((declaration) => declaration.source).filter((source) => !kept.has(source));
  return {
    ...(Object.keys(set).length === 0 ? {} : { set }),
    ...(unset.length === 0 ? {} : { unset }),
    ...(put.length + drop.length === 0 ? {} : { declared: { put, drop } }),
    ...(moved.length === 0 ? {} : { sortKeys: moved }),
  };
}

/** A row of `changes`, as read from the database. */
export interface ChangeRow {
  readonly revision: number;
  readonly action: string;
  readonly object_id: string;
  readonly units: readonly UnitChange[];
  readonly image: ChangeImage | null;
}

/** Returns the snapshot after the given changes, in order. */
export function replay(
  snapshot: Snapshot,
  rows: readonly ChangeRow[],
  revision: number,
  numbers: Readonly<Record<string, number>> = {},
): Snapshot {
  const objects = new Map<string, StoredObject | undefined>();
  replayInto(objects, snapshot, rows);
  return withObjects(snapshot, objects, revision, numbers);
}

/** Replayed objects by id. `undefined` for deleted objects. */
export type ReplayedObjects = Map<string, StoredObject | undefined>;

/** Applies the changes to `objects`, in order. Takes an object that is not in `objects` yet from `start`. */
export function replayInto(
  objects: ReplayedObjects,
  start: Pick<Snapshot, 'registry' | 'get'>,
  rows: readonly ChangeRow[],
): void {
  for (const row of rows) {
    const before = objects.has(row.object_id) ? objects.get(row.object_id) : start.get(row.object_id);
    objects.set(row.object_id, replayRow(start.registry, row, before));
  }
}

/**
 * Returns the snapshot after the replay, applied in one step. Between the changes, two objects may have the same unique
 * value.
 */
export function withObjects(
  snapshot: Snapshot,
  objects: ReadonlyMap<string, StoredObject | undefined>,
  revision: number,
  numbers: Readonly<Record<string, number>> = {},
): Snapshot {
  const put = [...objects.values()].filter((object) => object !== undefined);
  const remove = [...objects].filter(([, object]) => object === undefined).map(([id]) => id);
  return snapshot.with({ put, remove, numbers }, revision);
}

function replayRow(registry: Registry, row: ChangeRow, before: StoredObject | undefined): StoredObject | undefined {
  if (row.action === 'delete') return undefined;
  const image = row.image ?? {};
  if (image.object !== undefined) return objectFromImage(registry, image.object);
  if (before === undefined)
    throw new Error(`revision ${row.revision} changes ${row.object_id}, which the snapshot does not have`);
  const units = row.units;
  const fields = registry.get(before.kind).spec;
  const changed = Object.fromEntries(
    Object.entries(before).filter(([member]) => image.unset?.includes(member) !== true),
  ) as StoredObject;
  const dropped = new Set([
    ...(image.declared?.drop ?? []),
    ...(image.declared?.put ?? []).map((declaration) => declaration.source),
  ]);
  const next: StoredObject = {
    ...changed,
    ...image.set,
    ...(units.length === 0 ? {} : applyUnits(fields, before, units)),
    declared: [...before.declared.filter(({ source }) => !dropped.has(source)), ...(image.declared?.put ?? [])].sort(
      (a, b) => (a.source < b.source ? -1 : 1),
    ),
    updatedRevision: row.revision,
  };
  return sortMaps(fields, image.sortKeys === undefined ? next : withSortKeys(next, image.sortKeys));
}
