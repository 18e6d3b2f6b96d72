import { canonicalJson, type Json } from '../../lib/json.ts';
import { sha256 } from '../../lib/node-pure.ts';
import type { Registry } from '../../model/declare/registry.ts';
import type { ProblemCode } from '../../model/problem-codes.ts';
import { isSuspended } from '../../model/sources/settings.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { unitsOf } from '../../model/state/units.ts';
import { withPlaceholders } from '../digest.ts';
import { type Plan, subjectOf } from '../plan.ts';

/** A unit that a source claims with a value other than the value that another source states or claims. */
export type ClaimedUnit = {
  readonly kind: string;
  readonly key: string;
  readonly path: string;
  /** Digest of the claimed value. The value itself may be a secret. */
  readonly digest: string;
  readonly file: string;
  readonly line: number;
};

/**
 * Claims of a source that could not be applied in its last plan. The other sources of the account check them before
 * they change such a unit, so that neither side of a contradiction wins by being the last to apply. A plan that does
 * not change the unit is never blocked by a claim.
 */
export interface PendingClaim extends PostponedChanges {
  readonly source: string;
  /**
   * Units that other sources took from this source by force. The claim of this source does not block the source that
   * took the unit.
   */
  readonly evicted?: readonly EvictedUnit[];
  /** `Kind/key` of stored objects that the source claims but does not state yet. */
  readonly keys: readonly string[];
  readonly units: readonly ClaimedUnit[];
}

/** A unit that one source took from another by force. */
export type EvictedUnit = Pick<ClaimedUnit, 'kind' | 'key' | 'path'> & {
  readonly by: string;
};

/** Changes that the last plan of a source postponed, by `Kind/key`. Other sources ignore them. */
export interface PostponedChanges {
  /** Objects that no document of the source states any more but that are still used. */
  readonly blocked?: readonly string[];
  /** Objects whose documents refer to an object that does not exist yet. */
  readonly pending?: readonly string[];
}

/** A unit of one object that another source claims. */
export type ClaimByOther = Pick<ClaimedUnit, 'path' | 'digest' | 'file' | 'line'> & { readonly source: string };

/** Claims of the other sources, as the plan of one source sees them. A suspended source claims no units. */
export interface ClaimsOfOthers {
  readonly isEmpty: boolean;
  unitsOf(kind: string, key: string): readonly ClaimByOther[];
  /**
   * Returns the source that claims the object but does not state it yet. Includes suspended sources, because they may
   * be resumed.
   */
  claimantOf(kind: string, key: string): string | undefined;
}

function nameOfUnit({ kind, key, path }: Pick<ClaimedUnit, 'kind' | 'key' | 'path'>): string {
  return `${kind}/${key} ${path}`;
}

/** Returns the units that a plan takes from other sources, each with the source that loses it. */
export function evictionsOf(
  registry: Registry,
  { source: by = '', changes, claims }: Plan,
): readonly { readonly source: string; readonly unit: EvictedUnit }[] {
  return [...changes, ...claims].flatMap(({ before, after }) => {
    if (before === undefined || after === undefined) return [];
    const { kind, key = '' } = after;
    const fields = registry.get(kind).spec;
    return before.declared.flatMap(({ source, stated }) => {
      const left = after.declared.find((other) => other.source === source);
      if (source === by || left === undefined || left.stated === stated) return [];
      const kept = unitsOf(fields, left.stated);
      const lost = [...unitsOf(fields, stated).keys()].filter((path) => !kept.has(path));
      return lost.map((path) => ({ source, unit: { kind, key, path, by } }));
    });
  });
}

/** Collects the pending claims of the sources other than `source`. */
export function gatherClaims(
  snapshot: Snapshot,
  source: string,
  claimed: readonly PendingClaim[] = [],
): ClaimsOfOthers {
  const others = claimed.filter((one) => one.source !== source && !isSuspended(snapshot.settingsOf(one.source)));
  const units = new Map<string, ClaimByOther[]>();
  for (const { source: by, units: list, evicted = [] } of others) {
    const lost = new Set(evicted.filter((unit) => unit.by === source).map(nameOfUnit));
    for (const { kind, key, ...unit } of list) {
      if (lost.has(nameOfUnit({ kind, key, ...unit }))) continue;
      const name = `${kind}/${key}`;
      const present = units.get(name) ?? [];
      present.push({ ...unit, source: by });
      units.set(name, present);
    }
  }
  const keys = new Map<string, string>();
  for (const one of claimed) {
    if (one.source === source) continue;
    for (const key of [...one.keys, ...one.units.map((unit) => `${unit.kind}/${unit.key}`)])
      if (!keys.has(key)) keys.set(key, one.source);
  }
  return {
    isEmpty: units.size + keys.size === 0,
    unitsOf: (kind, key) => units.get(`${kind}/${key}`) ?? [],
    claimantOf: (kind, key) => keys.get(`${kind}/${key}`),
  };
}

/**
 * Returns `Kind/key` of the stored objects that a plan lets its source state for the first time. While the plan is not
 * applied, the source claims these objects.
 */
export function newlyStatedKeys({ source, changes, claims }: Plan): readonly string[] {
  const states = (object: StoredObject | undefined) => object?.declared.some((item) => item.source === source) === true;
  const fresh = [...changes, ...claims].filter(
    ({ before, after }) => before !== undefined && states(after) && !states(before),
  );
  return fresh.map((change) => `${subjectOf(change).kind}/${subjectOf(change).key}`).sort();
}

/** Returns the changes that a plan postpones. */
export function postponedIn({ warnings }: Plan): Required<PostponedChanges> {
  const named = (code: ProblemCode) => [
    ...new Set(warnings.filter((warning) => warning.code === code).map(({ kind, key }) => `${kind}/${key}`)),
  ];
  return { blocked: named('in_use').sort(), pending: named('reference_pending').sort() };
}

/** Returns a digest that is equal for equal values. `created` maps ids that the plan itself assigns to `@Kind/key`. */
export function claimDigest(value: Json, created: ReadonlyMap<string, string> = new Map()): string {
  return sha256(canonicalJson(withPlaceholders(value, created)));
}
