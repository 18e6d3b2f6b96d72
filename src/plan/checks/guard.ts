import type { GuardLimits } from '../../model/sources/settings.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { protectAnnotation } from '../documents/annotations.ts';
import { type Change, subjectOf, type TrippedGuard } from '../plan.ts';

/** Input of the guards: the changes of a source, and the objects that it owned before. */
export interface GuardInput {
  readonly source: string;
  readonly changes: readonly Change[];
  owned(): readonly StoredObject[];
  /** Number of documents that the source currently has. */
  readonly desiredCount: number;
  readonly allowEmpty: boolean;
  readonly limits: GuardLimits;
}

/** Minimum number of owned objects for the `updates` guard to apply. */
const minOwnedForUpdates = 10;

/** Minimum number of deletes of a kind for the `kind` guard to apply. */
const minDeletesOfKind = 3;

/**
 * Returns the guards that a plan of a source trips. A plan that deletes or rewrites much needs an approval, because bad
 * input and intent look the same. A limit that is exactly reached passes; one more trips.
 */
export function trippedGuards(input: GuardInput): readonly TrippedGuard[] {
  const { source, limits, desiredCount } = input;
  const deletes = input.changes.filter((change) => change.action === 'delete');
  const updates = input.changes.filter((change) => change.action === 'update');
  // Most plans do not need the owned objects, so they are not read.
  if (deletes.length === 0 && updates.length <= share(minOwnedForUpdates, limits.updateShare) && desiredCount > 0)
    return [];
  const ownedObjects = input.owned();
  const owned = ownedObjects.length;
  const tripped: TrippedGuard[] = [];
  if (desiredCount === 0 && owned > 0 && !input.allowEmpty) {
    tripped.push({
      guard: 'empty',
      message: `${source} no longer states anything and still owns ${countText(owned, 'object')}`,
    });
  }
  const mostDeletes = Math.max(limits.deletes, share(owned, limits.deleteShare));
  if (deletes.length > mostDeletes) {
    tripped.push({
      guard: 'deletes',
      message: `deletes ${deletes.length} of ${countText(owned, 'owned object')}; up to ${mostDeletes} need no approval`,
    });
  }
  tripped.push(...kindGuards(deletes, ownedObjects, limits.kindShare));
  const mostUpdates = share(owned, limits.updateShare);
  if (owned >= minOwnedForUpdates && updates.length > mostUpdates) {
    tripped.push({
      guard: 'updates',
      message: `updates ${updates.length} of ${countText(owned, 'owned object')}; up to ${mostUpdates} need no approval`,
    });
  }
  return [...tripped, ...deletes.flatMap(protectedGuard)];
}

/** Deletes of a source: those of this plan, and those of the hour before that had no approval. */
export interface WindowInput {
  readonly source: string;
  readonly deletes: number;
  readonly recentDeletes: number;
  /** Number of objects that the source still owns. */
  readonly owned: number;
  readonly limits: GuardLimits;
}

/**
 * Returns the guard for deletes spread over an hour. Objects that are deleted one by one need the same approval as
 * objects that are deleted at once.
 */
export function windowGuard({ source, deletes, recentDeletes, owned, limits }: WindowInput): TrippedGuard | undefined {
  const most = Math.max(limits.deletes, share(owned + recentDeletes, limits.deleteShare));
  if (deletes === 0 || recentDeletes === 0 || deletes + recentDeletes <= most) return undefined;
  const message = `${source} deletes ${countText(deletes, 'object')}, after ${recentDeletes} in the last hour, of ${owned + recentDeletes}; up to ${most} per hour need no approval`;
  return { guard: 'deletes', message };
}

/** Returns a guard for each kind of which more than the allowed share is deleted. */
function kindGuards(
  deletes: readonly Change[],
  owned: readonly StoredObject[],
  kindShare: number,
): readonly TrippedGuard[] {
  const total = new Map<string, number>();
  for (const { kind } of owned) total.set(kind, (total.get(kind) ?? 0) + 1);
  const gone = new Map<string, number>();
  for (const change of deletes) gone.set(subjectOf(change).kind, (gone.get(subjectOf(change).kind) ?? 0) + 1);
  return [...gone]
    .map(([kind, number]) => ({ kind, number, most: share(total.get(kind) ?? 0, kindShare) }))
    .filter(({ number, most }) => number >= minDeletesOfKind && number > most)
    .sort((a, b) => (a.kind < b.kind ? -1 : 1))
    .map(({ kind, number, most }) => ({
      ...{ guard: 'kind', kind },
      message: `deletes ${number} of ${total.get(kind) ?? 0} owned objects of kind ${kind}; up to ${Math.max(most, minDeletesOfKind - 1)} need no approval`,
    }));
}

/**
 * Returns the guard for a protected object. Protection is read from the stored object, so it does not end when the
 * document that requested it is removed.
 */
function protectedGuard(change: Change): readonly TrippedGuard[] {
  const { kind, key, name, protected: isProtected } = subjectOf(change);
  if (!isProtected) return [];
  const message = `deletes ${kind} ${key ?? name}, which is protected by ${protectAnnotation}; to delete it without an approval, first apply its document without the annotation, then remove the document`;
  return [{ guard: 'protected', kind, key: key ?? name, message }];
}

/**
 * Returns a share of a number, rounded down. Corrects rounding errors: 0.29 of 100 is 29, although the product is a
 * little less.
 */
function share(number: number, part: number): number {
  return Math.floor(number * part + 1e-9);
}

function countText(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
