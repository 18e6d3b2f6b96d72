import type { Kind } from '../../model/declare/kind.ts';
import { originOf, type StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';

/** What a rollback puts back: what sources own (`sources`), what one of them owns (`source:NAME`), or everything (`all`). */
export type RollbackScope = 'sources' | 'all' | `source:${string}`;

/** The scope that a text says; `undefined` when it says none. */
export function parseScope(text: string): RollbackScope | undefined {
  if (text === 'sources' || text === 'all') return text;
  return text.startsWith('source:') && text.length > 'source:'.length ? (text as RollbackScope) : undefined;
}

/** Whether what this source owns is put back. */
export function concerns(scope: RollbackScope, source: string | undefined): boolean {
  if (source === undefined) return scope === 'all';
  return !scope.startsWith('source:') || scope === `source:${source}`;
}

/** Whether a rollback leaves objects of this kind or this object alone: the server keeps them as they have to be. */
export function isOutOfReach(kind: Kind, object: StoredObject): boolean {
  return !kind.document.allowed || kind.isSystem?.(object) === true || originOf(object) !== undefined;
}

/** One object at both ends of a rollback. */
export interface Pair {
  /** As it was; absent: it was not there. */
  readonly was?: StoredObject;
  /** As it is; absent: it is gone. */
  readonly is?: StoredObject;
}

/** The objects in which the two states may differ, as far as the scope reaches, in the order of their ids. */
export function pairsOf(past: Snapshot, present: Snapshot, scope: RollbackScope): readonly Pair[] {
  const ids = new Set<string>();
  for (const state of [past, present]) {
    if (scope === 'all') for (const { id } of state.objects()) ids.add(id);
    else
      for (const source of state.sources())
        if (concerns(scope, source)) for (const { id } of state.declaredBy(source)) ids.add(id);
  }
  return [...ids].sort().flatMap((id) => {
    const [was, is] = [past.get(id), present.get(id)];
    // Every change of an object leaves its revision in it.
    if (was !== undefined && is !== undefined && is.updatedRevision === was.updatedRevision) return [];
    return [{ ...(was === undefined ? {} : { was }), ...(is === undefined ? {} : { is }) }];
  });
}
