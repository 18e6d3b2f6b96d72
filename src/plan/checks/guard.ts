import type { GuardLimits } from '../../model/sources/settings.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { protectAnnotation } from '../documents/annotations.ts';
import { type Change, subjectOf, type TrippedGuard } from '../plan.ts';

/** What the guards look at: the changes of a source, and what it owned before. */
export interface GuardInput {
  readonly source: string;
  readonly changes: readonly Change[];
  owned(): readonly StoredObject[];
  /** How many documents the source states now. */
  readonly desired: number;
  readonly allowEmpty: boolean;
  readonly limits: GuardLimits;
}

/** From how many owned objects on updates are counted. */
const fewestForUpdates = 10;

/** From how many deletes of a kind on its share is looked at. */
const fewestOfKind = 3;

/**
 * Bad input looks like intent, so a plan of a source that removes or rewrites much wants to be approved.
 * A threshold that is exactly reached passes; one more trips.
 */
export function trippedGuards(input: GuardInput): readonly TrippedGuard[] {
  const { source, limits, desired } = input;
  const deletes = input.changes.filter((change) => change.action === 'delete');
  const updates = input.changes.filter((change) => change.action === 'update');
  // Most plans need no look at what is owned.
  if (deletes.length === 0 && updates.length <= share(fewestForUpdates, limits.updateShare) && desired > 0) return [];
  const ownedObjects = input.owned();
  const owned = ownedObjects.length;
  const tripped: TrippedGuard[] = [];
  if (desired === 0 && owned > 0 && !input.allowEmpty) {
    tripped.push({ guard: 'empty', message: `${source} states nothing any more and owns ${count(owned, 'object')}` });
  }
  const mostDeletes = Math.max(limits.deletes, share(owned, limits.deleteShare));
  if (deletes.length > mostDeletes) {
    tripped.push({
      guard: 'deletes',
      message: `deletes ${deletes.length} of ${count(owned, 'owned object')}; up to ${mostDeletes} need no approval`,
    });
  }
  tripped.push(...kindGuards(deletes, ownedObjects, limits.kindShare));
  const mostUpdates = share(owned, limits.updateShare);
  if (owned >= fewestForUpdates && updates.length > mostUpdates) {
    tripped.push({
      guard: 'updates',
      message: `updates ${updates.length} of ${count(owned, 'owned object')}; up to ${mostUpdates} need no approval`,
    });
  }
  return [...tripped, ...deletes.flatMap(protectedGuard)];
}

/** What a source deletes now, and what it deleted in the hour before without an approval. */
export interface WindowInput {
  readonly source: string;
  readonly deletes: number;
  readonly before: number;
  /** How many objects it owns still. */
  readonly owned: number;
  readonly limits: GuardLimits;
}

/** Objects that are deleted one by one are as many as those that are deleted at once: both want the same approval. */
export function windowGuard({ source, deletes, before, owned, limits }: WindowInput): TrippedGuard | undefined {
  const most = Math.max(limits.deletes, share(owned + before, limits.deleteShare));
  if (deletes === 0 || before === 0 || deletes + before <= most) return undefined;
  const message = `${source} deletes ${count(deletes, 'object')} after ${before} in the hour before, of ${owned + before}; up to ${most} an hour need no approval`;
  return { guard: 'deletes', message };
}

/** More than a share of any one kind. */
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
    .filter(({ number, most }) => number >= fewestOfKind && number > most)
    .sort((a, b) => (a.kind < b.kind ? -1 : 1))
    .map(({ kind, number, most }) => ({
      guard: 'kind',
      message: `deletes ${number} of ${total.get(kind) ?? 0} owned objects of kind ${kind}; up to ${Math.max(most, fewestOfKind - 1)} need no approval`,
    }));
}

/** Protection is read from the stored object: it does not go with the document that asked for it. */
function protectedGuard(change: Change): readonly TrippedGuard[] {
  const { kind, key, name, protected: isProtected } = subjectOf(change);
  if (!isProtected) return [];
  const message = `deletes ${kind} ${key ?? name}, which is protected by ${protectAnnotation}; to let it go without an approval apply its document without the annotation first, and remove it then`;
  return [{ guard: 'protected', message }];
}

/** A share of a number, rounded down; 0.29 of 100 is 29, although the product of the two is a little less. */
function share(number: number, part: number): number {
  return Math.floor(number * part + 1e-9);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
