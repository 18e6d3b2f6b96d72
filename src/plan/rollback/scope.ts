import type { Kind } from '../../model/declare/kind.ts';
import { derivedFromId, type StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';

/**
 * What a rollback restores: everything that sources own (`sources`), that one source owns (`source:NAME`), or
 * everything (`all`).
 */
export type RollbackScope = 'sources' | 'all' | `source:${string}`;

/** Parses the scope of a rollback; `undefined` when the text is not a scope. */
export function parseScope(text: string): RollbackScope | undefined {
  if (text === 'sources' || text === 'all') return text;
  return text.startsWith('source:') && text.length > 'source:'.length ? (text as RollbackScope) : undefined;
}

/** Whether the scope includes what this source owns. `undefined` as source means that no source owns it. */
export function includesSource(scope: RollbackScope, source: string | undefined): boolean {
  if (source === undefined) return scope === 'all';
  return !scope.startsWith('source:') || scope === `source:${source}`;
}

/** Whether a rollback never changes this object, because the server maintains objects of its kind or this object. */
export function isNeverRolledBack(kind: Kind, object: StoredObject): boolean {
  return !kind.document.allowed || kind.isSystem?.(object) === true || derivedFromId(object) !== undefined;
}

/** One object in the former and in the present state. */
export interface ObjectPair {
  /** Former state. Absent: the object did not exist. */
  readonly was?: StoredObject;
  /** Present state. Absent: the object is deleted. */
  readonly is?: StoredObject;
}

/** Returns the objects in scope that may differ between the two states, ordered by id. */
export function changedPairs(past: Snapshot, present: Snapshot, scope: RollbackScope): readonly ObjectPair[] {
  const ids = new Set<string>();
  for (const state of [past, present]) {
    if (scope === 'all') for (const { id } of state.objects()) ids.add(id);
    else
      for (const source of state.sources())
        if (includesSource(scope, source)) for (const { id } of state.declaredBy(source)) ids.add(id);
  }
  return [...ids].sort().flatMap((id) => {
    const [was, is] = [past.get(id), present.get(id)];
    // Each change sets `updatedRevision`, so equal revisions mean equal objects.
    if (was !== undefined && is !== undefined && is.updatedRevision === was.updatedRevision) return [];
    return [{ ...(was === undefined ? {} : { was }), ...(is === undefined ? {} : { is }) }];
  });
}
