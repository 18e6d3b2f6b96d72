import type { claimActions, planActions, planGuards } from '../model/declare/plan-words.ts';
import type { Place } from '../model/document.ts';
import type { Problem } from '../model/problem.ts';
import type { StoredObject } from '../model/state/object.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import type { UnitChange } from '../model/state/units.ts';
import type { AccessImpact } from '../operations/config/plan-access.ts';
import type { PendingClaim } from './ownership/claims-of-others.ts';
import type { RollbackScope } from './rollback/scope.ts';

export type Action = (typeof planActions)[number];

/** What one plan does to one object. */
export interface Change {
  readonly action: Action;
  readonly before?: StoredObject;
  readonly after?: StoredObject;
  /** The units that differ; of a created object all of them, of a deleted one none. */
  readonly units: readonly UnitChange[];
  /** Paths of units that fall back to their default because no source states them any more. */
  readonly resets: readonly string[];
  /** Paths of units that no source stated until now and that a source takes over with another value. */
  readonly claimed?: readonly string[];
  readonly place?: Place;
  /** The new object stands for the one with this id, which goes, because these fields of it could not be changed. */
  readonly replaces?: { readonly id: string; readonly fields: readonly string[] };
  /** It follows from another change. */
  readonly internal?: true;
  /** Sentences about what deserves a second look. */
  readonly risks: readonly string[];
}

/** A change of who states what or holds what for a while, without a change of value: it makes a revision, but it is no change for exit codes. */
export interface Claim {
  readonly action: (typeof claimActions)[number];
  readonly before: StoredObject;
  readonly after: StoredObject;
  /** What differs without being a change: see `isHandover`. */
  readonly units: readonly UnitChange[];
  readonly place?: Place;
}

/** A guard that needs an approval. */
export interface TrippedGuard {
  readonly guard: (typeof planGuards)[number];
  readonly message: string;
}

/** What a plan that goes back to a former state does beside its changes. */
export interface Rollback {
  /** The revision whose state comes back. */
  readonly revision: number;
  readonly scope: RollbackScope;
  /** Sources that are suspended with it. */
  readonly suspends: readonly string[];
}

/** A document that states the same as before at another place. Positions change outside revisions. */
export interface Move {
  readonly object: StoredObject;
  readonly place: Place;
}

export interface Counts {
  readonly create: number;
  readonly update: number;
  readonly delete: number;
  readonly claims: number;
}

/**
 * A value: the changes that lead from a snapshot to the desired state. Rendering, storing and applying it are other
 * modules.
 */
export interface Plan {
  readonly account: string;
  readonly source?: string | undefined;
  /** The revision it was computed on. */
  readonly base: number;
  /** Ordered: referents before referrers, deletes after what used them. */
  readonly changes: readonly Change[];
  readonly claims: readonly Claim[];
  readonly moves: readonly Move[];
  readonly warnings: readonly Problem[];
  readonly guards: readonly TrippedGuard[];
  readonly counts: Counts;
  /** SHA-256 over what it does; equal for equal plans whatever the file order, the process or the new ids. */
  readonly digest: string;
  /** By id of a created object: values that are shown once. Never stored, never part of the digest. */
  readonly outputs: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly rollback?: Rollback;
  /** Who gains and loses access; absent when nothing changes on which access depends. It follows from the changes, so the digest leaves it out. */
  readonly access?: AccessImpact;
  /** Files that are not applied, where one bad file does not keep the others from being applied. */
  readonly heldBack?: readonly HeldBack[];
}

/** A file of documents whose objects stay as they were applied last, and why. */
export interface HeldBack {
  readonly file: string;
  readonly problems: readonly Problem[];
}

/** A plan with the snapshot it leads to, or all that is wrong with the input. */
export type Outcome =
  | { readonly ok: true; readonly plan: Plan; readonly next: Snapshot }
  | {
      readonly ok: false;
      readonly problems: readonly Problem[];
      /** Of documents: what their source claims and cannot have. */
      readonly claimed?: Omit<PendingClaim, 'source'>;
    };

/** Whether applying the plan would write nothing. */
export function isEmptyPlan(plan: Plan): boolean {
  return plan.changes.length === 0 && plan.claims.length === 0;
}

/** The object a change or claim is about, as it is afterwards, or was before it went. */
export function subjectOf(change: Pick<Change, 'before' | 'after'>): StoredObject {
  const subject = change.after ?? change.before;
  if (subject === undefined) throw new Error('a change has neither a before nor an after');
  return subject;
}
