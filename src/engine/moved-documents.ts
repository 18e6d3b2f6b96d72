import type { Snapshot } from '../model/snapshot.ts';
import type { Move } from '../plan/plan.ts';
import { movePositions } from '../store/positions.ts';
import type { Engine } from './engine.ts';

/** Documents that only moved to another file or line: their positions follow, outside revisions. */
export async function moveDocuments(
  engine: Engine,
  account: string,
  source: string,
  moves: readonly Move[],
  state: Snapshot,
): Promise<void> {
  const still = moves.filter(({ object }) => state.get(object.id) === object);
  if (still.length === 0) return;
  await movePositions(
    engine.database,
    account,
    source,
    still.map(({ object, place }) => ({ object: object.id, file: place.file, line: place.line })),
  );
  const put = still.map(({ object, place }) => ({
    ...object,
    declared: object.declared.map((item) =>
      item.source === source ? { ...item, file: place.file, line: place.line } : item,
    ),
  }));
  const current = await engine.snapshots.current(account);
  if (current.revision === state.revision) engine.snapshots.advance(current.with({ put, remove: [] }));
}
