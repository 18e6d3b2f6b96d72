import type { Call, Engine } from '../commit/engine.ts';
import type { Kind } from '../model/declare/kind.ts';
import type { ObjectStatus } from '../model/declare/object-status.ts';
import { isSuspended } from '../model/sources/settings.ts';
import type { StoredObject } from '../model/state/object.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import type { ObjectStanding } from '../operations/config/objects.ts';
import { isAllowed } from '../plan/checks/authorize.ts';
import type { PendingClaim } from '../plan/ownership/claims-of-others.ts';
import { type Found, objectStatus } from '../plan/ownership/drift.ts';
import { findObject } from './find-object.ts';
import { readClaims } from './pending-claims.ts';

/** Which objects are asked for: those that all members fit, or one alone. */
export interface ObjectFilter {
  readonly kind?: string;
  /** Only what this source owns or states. */
  readonly source?: string;
  readonly status?: ObjectStatus;
  /** This one alone, as `findObject` reads it. */
  readonly object?: string;
}

/** The objects of an account at a revision. */
export interface ObjectList {
  readonly revision: number;
  readonly objects: readonly ObjectStanding[];
}

/** The objects of kinds that the caller may read, by kind and name, with how each stands. */
export async function listObjects(engine: Engine, call: Call, filter: ObjectFilter): Promise<ObjectList> {
  const state = await engine.snapshots.at(call.account, call.revision);
  const found = foundIn(state, (await readClaims(engine.database, call.account)).list);
  const now = engine.now();
  const objects = chooseObjects(state, readableBy(state, call), filter)
    .map((object) => standingOf(object, objectStatus(state, object, now, found)))
    .filter(({ status }) => filter.status === undefined || status === filter.status);
  return { revision: state.revision, objects: objects.sort(byKindAndName) };
}

/** Whether a caller may read objects of a kind. */
export function readableBy(state: Snapshot, { actor }: Pick<Call, 'actor'>): (kind: Kind) => boolean {
  return (kind) => isAllowed(state, actor, kind.module, 'read');
}

/** Whether a caller may see changes of a kind, by its name; what no program knows any more is for owners. */
export function readableNames(state: Snapshot, call: Pick<Call, 'actor'>): (kind: string) => boolean {
  const names = new Set(state.registry.kinds.filter(readableBy(state, call)).map(({ name }) => name));
  const seesAll = isAllowed(state, call.actor, 'accounts', 'update');
  return (kind) => names.has(kind) || (seesAll && state.registry.find(kind) === undefined);
}

function chooseObjects(
  state: Snapshot,
  isReadable: (kind: Kind) => boolean,
  { kind, source, object }: ObjectFilter,
): readonly StoredObject[] {
  if (object !== undefined) return [findObject(state, object, isReadable)];
  const names = new Set(state.registry.kinds.filter(isReadable).map(({ name }) => name));
  const objects = source === undefined ? [...state.objects()] : state.declaredBy(source);
  return objects.filter((one) => names.has(one.kind) && (kind === undefined || one.kind === kind));
}

/** What the last plans of sources found. A suspended source wants nothing while it is. */
function foundIn(state: Snapshot, claimed: readonly PendingClaim[]): Found {
  const awake = claimed.filter(({ source }) => !isSuspended(state.settingsOf(source)));
  return {
    conflicted: new Set(awake.flatMap(({ units }) => units.map(({ kind, key }) => `${kind}/${key}`))),
    blocked: new Set(claimed.flatMap(({ blocked = [] }) => blocked)),
    pending: new Set(claimed.flatMap(({ pending = [] }) => pending)),
  };
}

function standingOf(object: StoredObject, status: ObjectStatus): ObjectStanding {
  const { kind, key, aliases = [], name, id, owner, declared, updatedRevision } = object;
  const places = declared.map(({ source, file, line }) => ({ source, file, line }));
  return {
    kind,
    ...(key === undefined ? {} : { key }),
    ...(aliases.length === 0 ? {} : { previousKeys: aliases }),
    ...{ name, id, status },
    ...(owner === undefined ? {} : { owner }),
    declared: [...places].sort((a, b) => Number(b.source === owner) - Number(a.source === owner)),
    revision: updatedRevision,
  };
}

function byKindAndName(a: ObjectStanding, b: ObjectStanding): number {
  const name = ({ kind, key, name: display, id }: ObjectStanding) => `${kind}\n${key ?? display}\n${id}`;
  return name(a) < name(b) ? -1 : 1;
}
