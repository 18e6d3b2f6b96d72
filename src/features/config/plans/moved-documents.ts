import { kindOf, testKind } from '../../../access/ruleset/object-readers.ts';
import type { Engine } from '../../../commit/engine.ts';
import { movePositions } from '../../../db/commit/positions.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { DeclarationMove, Plan } from '../../../plan/plan.ts';

/** Updates the stored positions of documents that only moved to another file or line. This makes no revision. */
export async function storeMovedPositions(
  engine: Engine,
  account: string,
  source: string,
  moves: readonly DeclarationMove[],
  state: Snapshot,
): Promise<void> {
  const still = moves.filter(({ object }) => state.get(object.id) === object);
  if (still.length === 0) return;
  await movePositions(
    engine.database,
    account,
    source,
    still.map(({ object, position }) => ({ object: object.id, file: position.file, line: position.line })),
  );
  const put = movedObjects(still, source);
  const current = await engine.snapshots.current(account);
  if (current.revision === state.revision) engine.snapshots.advance(current.with({ put, remove: [] }));
}

/** Returns the state after a plan with the new positions of documents, which access impacts and test results show. */
export function applyMoves(next: Snapshot, { moves }: Plan, source: string): Snapshot {
  const reviewed = moves.filter(({ object }) => reviewedKinds.includes(object.kind) && next.get(object.id) === object);
  return reviewed.length === 0 ? next : next.with({ put: movedObjects(reviewed, source), remove: [] });
}

const reviewedKinds: readonly string[] = [kindOf.policy, testKind];

function movedObjects(moves: readonly DeclarationMove[], source: string): readonly StoredObject[] {
  return moves.map(({ object, position }) => ({
    ...object,
    declared: object.declared.map((item) =>
      item.source === source ? { ...item, file: position.file, line: position.line } : item,
    ),
  }));
}
