import type { claimActions, planActions, planGuards } from '../model/declare/plan-words.ts';
import type { DocumentPosition } from '../model/document.ts';
import type { Problem } from '../model/problem.ts';
import type { StoredObject } from '../model/state/object.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import type { UnitChange } from '../model/state/units.ts';
import type { AccessImpact } from '../operations/config/plan-access.ts';
import type { PendingClaim } from './ownership/claims-of-others.ts';
import type { RollbackScope } from './rollback/scope.ts';

export type Action = (typeof planActions)[number];

/** Change of one object in a plan. */
export interface Change {
  readonly action: Action;
  readonly before?: StoredObject;
  readonly after?: StoredObject;
  /** The units that differ: all units of a created object, none of a deleted object. */
  readonly units: readonly UnitChange[];
  /** Paths of units that return to their default because no source states them any more. */
  readonly resets: readonly string[];
  /** Paths of units that no source stated before and that a source takes over with another value. */
  readonly claimed?: readonly string[];
  readonly position?: DocumentPosition;
  /**
   * Id of the object that this new object replaces, which is deleted, and the fields that could only be changed by
   * re-creation.
   */
  readonly replaces?: { readonly id: string; readonly fields: readonly string[] };
  /** True when the change follows from another change. */
  readonly internal?: true;
  /** Warnings about the change, as sentences. */
  readonly risks: readonly string[];
}

/**
 * A change of who states, owns or overrides an object, without a change of its values. It makes a revision, but does
 * not count as a change for exit codes.
 */
export interface Claim {
  readonly action: (typeof claimActions)[number];
  readonly before: StoredObject;
  readonly after: StoredObject;
  /** Units that differ but do not count as changes: see `isOwnershipOnly`. */
  readonly units: readonly UnitChange[];
  readonly position?: DocumentPosition;
}

/** A tripped guard. It needs an approval. */
export interface TrippedGuard {
  readonly guard: (typeof planGuards)[number];
  readonly message: string;
  /** Kind that the message names. Absent when the guard is about the plan as a whole. */
  readonly kind?: string;
  /** Key or name of the object that the message names. */
  readonly key?: string;
}

/** Effects of a rollback plan in addition to its changes. */
export interface Rollback {
  /** Revision whose state is restored. */
  readonly revision: number;
  readonly scope: RollbackScope;
  /** Names of the sources that the rollback suspends. */
  readonly suspends: readonly string[];
}

/** A document that states the same values as before at another position. Applying a move does not make a revision. */
export interface DeclarationMove {
  readonly object: StoredObject;
  readonly position: DocumentPosition;
}

export interface PlanCounts {
  readonly create: number;
  readonly update: number;
  readonly delete: number;
  readonly claims: number;
}

/** The changes that lead from a snapshot to the desired state, as a value. Other modules render, store and apply it. */
export interface Plan {
  readonly account: string;
  readonly source?: string | undefined;
  /** Revision of the snapshot that the plan was computed on. */
  readonly base: number;
  /**
   * In order: objects before the objects that refer to them, and deletions after the changes that stop using the
   * object.
   */
  readonly changes: readonly Change[];
  readonly claims: readonly Claim[];
  readonly moves: readonly DeclarationMove[];
  readonly warnings: readonly Problem[];
  readonly guards: readonly TrippedGuard[];
  readonly counts: PlanCounts;
  /** SHA-256 of the effects of the plan. Equal for equal plans, whatever the file order, the process or the new ids. */
  readonly digest: string;
  /** Generated values that are shown once, by id of the object. Never stored, and never part of the digest. */
  readonly outputs: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly rollback?: Rollback;
  /**
   * Access that is gained and lost. Absent when nothing changes that access depends on. It follows from the changes, so
   * the digest does not cover it.
   */
  readonly access?: AccessImpact;
  /** Files that are not applied, for sources in which a bad file does not stop the other files from being applied. */
  readonly heldBack?: readonly HeldBackFile[];
}

/** A file of documents whose objects keep their last applied state, with the reasons. */
export interface HeldBackFile {
  readonly file: string;
  readonly problems: readonly Problem[];
}

/** A plan with the snapshot that it leads to, or all problems of the input. */
export type PlanOutcome = { readonly ok: true; readonly plan: Plan; readonly next: Snapshot } | RefusedPlan;

/** All problems of an input that cannot be applied. */
export interface RefusedPlan {
  readonly ok: false;
  readonly problems: readonly Problem[];
  /** For documents: claims of their source that could not be applied. */
  readonly claimed?: Omit<PendingClaim, 'source'>;
}

/** Whether the plan has neither changes nor claims, so that applying it makes no revision. */
export function isEmptyPlan(plan: Plan): boolean {
  return plan.changes.length === 0 && plan.claims.length === 0;
}

/** Returns the object of a change or claim: its state afterwards, or its last state if it is deleted. */
export function subjectOf(change: Pick<Change, 'before' | 'after'>): StoredObject {
  const subject = change.after ?? change.before;
  if (subject === undefined) throw new Error('a change has neither a before nor an after');
  return subject;
}
