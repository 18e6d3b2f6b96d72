import { equalJson, type Json } from '../../lib/json.ts';
import type { Kind } from '../../model/declare/kind.ts';
import type { ObjectStatus } from '../../model/declare/object-status.ts';
import { mentionsOf } from '../../model/schema/references.ts';
import { completeSpec } from '../../model/state/members.ts';
import type { Declaration, Override, StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { applyToSpec, unitsOf } from '../../model/state/units.ts';
import { isRestrictive } from './failsafe.ts';
import { exclusiveFields, fieldNameOf, isMember, sourceOrigin } from './membership.ts';
import { liveOverride } from './overrides.ts';
import { hasStatedValues } from './unchanged.ts';

/**
 * Reason why a stated unit has another value. `override`: a user overrode it for a limited time. `failsafe`: the value
 * is restrictive, and only the API may loosen it. `pending`: the stated value refers to an object that does not exist.
 * `api`: a request changed it.
 */
export type DriftReason =
  | { readonly why: 'override'; readonly override: Override }
  | { readonly why: 'failsafe' | 'pending' | 'api' };

/** A unit whose value differs from the value that a source states. */
export interface Drift {
  readonly object: StoredObject;
  readonly path: string;
  readonly by: Declaration;
  /** Absent: the unit is a member that no source states. */
  readonly stated?: Json;
  readonly effective?: Json;
  readonly because: DriftReason;
}

/**
 * Returns every unit that differs from its stated value, for one source or for all, ordered by object, source and path.
 * A unit that several sources state is listed once, for the first of them.
 */
export function driftOf(snapshot: Snapshot, now: string, source?: string): readonly Drift[] {
  const objects = source === undefined ? [...snapshot.objects()].sort(byId) : snapshot.declaredBy(source);
  return objects.flatMap((object) => driftOfObject(snapshot, object, now, source));
}

/** Returns the units of one object that differ from their stated values, for one source or for all. */
export function driftOfObject(
  snapshot: Snapshot,
  object: StoredObject,
  now: string,
  source?: string,
): readonly Drift[] {
  const declared = object.declared.filter((by) => source === undefined || by.source === source);
  if (declared.length === 0) return [];
  const kind = snapshot.registry.get(object.kind);
  const missed = declared.filter((by) => by.exclusive === true || !hasStatedValues(kind.spec, object, by.stated));
  if (missed.length === 0) return [];
  const seen = new Set<string>();
  return missed
    .flatMap((by) => driftFrom(snapshot, kind, object, by, now))
    .filter(({ path }) => !seen.has(path) && seen.add(path));
}

/** Results of plans about objects, by `Kind/key`. A snapshot does not contain them. */
export interface PlanFindings {
  /** Objects about which sources contradict each other. */
  readonly conflicted: ReadonlySet<string>;
  /** Objects that no document states any more but that are still used. */
  readonly blocked: ReadonlySet<string>;
  /** Objects whose documents refer to an object that does not exist yet. */
  readonly pending: ReadonlySet<string>;
}

/** Returns the status of an object. Statuses that need a decision take precedence. */
export function objectStatus(
  snapshot: Snapshot,
  object: StoredObject,
  now: string,
  found?: PlanFindings,
): ObjectStatus {
  if (object.declared.length === 0 && object.owner === undefined) return 'Unmanaged';
  const name = `${object.kind}/${object.key}`;
  if (found?.conflicted.has(name) === true) return 'Conflicted';
  if (found?.blocked.has(name) === true) return 'Blocked';
  const reasons = driftOfObject(snapshot, object, now).map(({ because }) => because.why);
  if (reasons.some((why) => why === 'api' || why === 'pending') || found?.pending.has(name) === true) return 'Drifted';
  return reasons.length > 0 ? 'Overridden' : 'InSync';
}

function driftFrom(
  snapshot: Snapshot,
  kind: Kind,
  object: StoredObject,
  by: Declaration,
  now: string,
): readonly Drift[] {
  const current = unitsOf(kind.spec, completeSpec(object));
  const stated = unitsOf(kind.spec, by.stated);
  const missed = [...stated].filter(([path, value]) => !isStatedValue(kind, path, value, current.get(path)));
  const closed = exclusiveFields(kind.spec, by);
  const others = [...current.keys()].filter(
    (path) => closed.includes(fieldNameOf(path)) && !isStatedBy(kind, object, path),
  );
  const drifts = [...missed.map(([path, value]) => ({ path, stated: value })), ...others.map((path) => ({ path }))];
  return drifts
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map((drift) => {
      const effective = current.get(drift.path);
      const because = reasonOf(snapshot, kind, object, { effective, ...drift }, now);
      return { object, by, ...drift, ...(effective === undefined ? {} : { effective }), because };
    });
}

function isStatedValue({ spec: fields }: Kind, path: string, stated: Json, effective: Json | undefined): boolean {
  if (!isMember(fields, path)) return equalJson(stated, effective);
  return Array.isArray(effective) && effective.includes(sourceOrigin);
}

function isStatedBy(kind: Kind, { declared }: StoredObject, path: string): boolean {
  return declared.some(({ stated }) => unitsOf(kind.spec, stated).has(path));
}

interface Difference {
  readonly path: string;
  readonly stated?: Json;
  readonly effective?: Json | undefined;
}

function reasonOf(
  snapshot: Snapshot,
  kind: Kind,
  object: StoredObject,
  { path, stated, effective }: Difference,
  now: string,
): DriftReason {
  const override = liveOverride(object.overrides, path, now);
  if (override !== undefined) return { why: 'override', override };
  if (isRestrictive(kind.spec, path, effective)) return { why: 'failsafe' };
  const names =
    stated === undefined ? [] : mentionsOf(kind.spec, applyToSpec(kind.spec, {}, [{ path, after: stated }]));
  return { why: names.some(({ text }) => snapshot.get(text) === undefined) ? 'pending' : 'api' };
}

function byId(a: StoredObject, b: StoredObject): number {
  return a.id < b.id ? -1 : 1;
}
