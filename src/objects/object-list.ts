import type { Call, Engine } from '../commit/engine.ts';
import type { Kind } from '../model/declare/kind.ts';
import type { ObjectStatus } from '../model/declare/object-status.ts';
import { isSuspended } from '../model/sources/settings.ts';
import type { StoredObject } from '../model/state/object.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import type { ListedObject } from '../operations/config/objects.ts';
import { isAllowed } from '../plan/checks/authorize.ts';
import type { PendingClaim } from '../plan/ownership/claims-of-others.ts';
import { objectStatus, type PlanFindings } from '../plan/ownership/drift.ts';
import { findObject } from './find-object.ts';
import { readClaims } from './pending-claims.ts';

/** Selects the objects that match all members, or a single object. */
export interface ObjectFilter {
  readonly kind?: string;
  /** Only objects that this source owns or declares. */
  readonly source?: string;
  readonly status?: ObjectStatus;
  /** Only this object, in a form that `findObject` reads. */
  readonly object?: string;
}

/** The objects of an account at a revision. */
export interface ObjectList {
  readonly revision: number;
  readonly objects: readonly ListedObject[];
}

/** Returns the objects of kinds that the caller may read, sorted by kind and name, with the status of each. */
export async function listObjects(engine: Engine, call: Call, filter: ObjectFilter): Promise<ObjectList> {
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  const found = planFindingsIn(state, (await readClaims(engine.database, call.account)).list);
  const now = engine.now();
  const objects = chooseObjects(state, createKindReadCheck(state, call), filter)
    .map((object) => listedObjectOf(object, objectStatus(state, object, now, found)))
    .filter(({ status }) => filter.status === undefined || status === filter.status);
  return { revision: state.revision, objects: objects.sort(byKindAndName) };
}

/** Returns a function that checks whether a caller may read objects of a kind. */
export function createKindReadCheck(state: Snapshot, { actor }: Pick<Call, 'actor'>): (kind: Kind) => boolean {
  return (kind) => isAllowed(state, actor, kind.module, 'read');
}

/**
 * Returns a function that checks whether a caller may see changes of a kind, by name of the kind. Changes of a kind
 * that the program does not contain any more are visible only to owners.
 */
export function createKindNameReadCheck(state: Snapshot, call: Pick<Call, 'actor'>): (kind: string) => boolean {
  const names = new Set(state.registry.kinds.filter(createKindReadCheck(state, call)).map(({ name }) => name));
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

/** Returns the findings of the last plans of sources. A suspended source has no conflicts. */
function planFindingsIn(state: Snapshot, claimed: readonly PendingClaim[]): PlanFindings {
  const awake = claimed.filter(({ source }) => !isSuspended(state.settingsOf(source)));
  return {
    conflicted: new Set(awake.flatMap(({ units }) => units.map(({ kind, key }) => `${kind}/${key}`))),
    blocked: new Set(claimed.flatMap(({ blocked = [] }) => blocked)),
    pending: new Set(claimed.flatMap(({ pending = [] }) => pending)),
  };
}

function listedObjectOf(object: StoredObject, status: ObjectStatus): ListedObject {
  const { kind, key, aliases = [], name, id, owner, declared, updatedRevision } = object;
  const declarations = declared.map(({ source, file, line }) => ({ source, file, line }));
  return {
    kind,
    ...(key === undefined ? {} : { key }),
    ...(aliases.length === 0 ? {} : { previousKeys: aliases }),
    ...{ name, id, status },
    ...(owner === undefined ? {} : { owner }),
    declared: [...declarations].sort((a, b) => Number(b.source === owner) - Number(a.source === owner)),
    revision: updatedRevision,
  };
}

function byKindAndName(a: ListedObject, b: ListedObject): number {
  const name = ({ kind, key, name: display, id }: ListedObject) => `${kind}\n${key ?? display}\n${id}`;
  return name(a) < name(b) ? -1 : 1;
}
