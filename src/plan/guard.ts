import type { StoredObject } from '../model/object.ts';
import { type Change, subjectOf, type TrippedGuard } from './plan.ts';

/** What the guards look at: the changes of a source, and what it owned before. */
export interface GuardInput {
  readonly source: string;
  readonly changes: readonly Change[];
  owned(): readonly StoredObject[];
  /** How many documents the source states now. */
  readonly desired: number;
  readonly allowEmpty: boolean;
}

/**
 * Bad input looks like intent, so a plan of a source that removes or rewrites much wants to be approved.
 * A threshold that is exactly reached passes; one more trips.
 */
export function trippedGuards(input: GuardInput): readonly TrippedGuard[] {
  const deletes = input.changes.filter((change) => change.action === 'delete');
  const updates = input.changes.filter((change) => change.action === 'update');
  // The smallest number of updates that could trip is 5 of 10: most plans need no look at what is owned.
  if (deletes.length === 0 && updates.length < 5 && input.desired > 0) return [];
  const ownedObjects = input.owned();
  const owned = ownedObjects.length;
  const tripped: TrippedGuard[] = [];
  if (input.desired === 0 && owned > 0 && !input.allowEmpty) {
    tripped.push({
      guard: 'empty',
      message: `${input.source} states nothing any more and owns ${count(owned, 'object')}`,
    });
  }
  const limit = Math.max(5, Math.floor(owned * 0.2));
  if (deletes.length > limit) {
    tripped.push({
      guard: 'deletes',
      message: `deletes ${deletes.length} of ${count(owned, 'owned object')}; up to ${limit} need no approval`,
    });
  }
  tripped.push(...kindGuards(deletes, ownedObjects));
  if (owned >= 10 && updates.length > owned * 0.4) {
    tripped.push({
      guard: 'updates',
      message: `updates ${updates.length} of ${count(owned, 'owned object')}; up to ${Math.floor(owned * 0.4)} need no approval`,
    });
  }
  for (const change of deletes) {
    const { kind, key, name, protected: isProtected } = subjectOf(change);
    if (isProtected)
      tripped.push({
        guard: 'protected',
        message: `deletes ${kind} ${key ?? name}, which is protected by heddle.dev/prevent-delete`,
      });
  }
  return tripped;
}

/** More than half of any one kind, when that is at least three objects. */
function kindGuards(deletes: readonly Change[], owned: readonly StoredObject[]): readonly TrippedGuard[] {
  const total = new Map<string, number>();
  for (const { kind } of owned) total.set(kind, (total.get(kind) ?? 0) + 1);
  const gone = new Map<string, number>();
  for (const change of deletes) gone.set(subjectOf(change).kind, (gone.get(subjectOf(change).kind) ?? 0) + 1);
  return [...gone]
    .filter(([kind, number]) => number >= 3 && number > (total.get(kind) ?? 0) * 0.5)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, number]) => ({
      guard: 'kind',
      message: `deletes ${number} of ${total.get(kind) ?? 0} owned objects of kind ${kind}, more than half`,
    }));
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
