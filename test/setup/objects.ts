import type { Engine } from '../../src/commit/engine.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { finishPlan } from '../../src/plan/finish.ts';

/** Writes objects unchanged, as one revision, without going through an endpoint and its access rules. */
export async function putObjects(
  engine: Engine,
  account: string,
  objectsOn: (state: Snapshot) => readonly StoredObject[],
): Promise<void> {
  const committed = await engine.committer.mutate({
    account,
    actor: { type: 'system', id: 'test', name: 'test' },
    revision: 0,
    propose: (snapshot) =>
      finishPlan({
        snapshot,
        edits: objectsOn(snapshot).map((after) => {
          const before = snapshot.get(after.id);
          return before === undefined ? { after } : { before, after };
        }),
        locate: (object, fault) => ({ code: fault.code, kind: object.kind, key: object.name, message: fault.message }),
        newId: engine.newId,
        now: engine.now(),
        planEnvironment: engine.planEnvironment,
        // Treats the objects as if they had existed before: rules that apply only to new objects are skipped.
        rollback: true,
      }),
  });
  if (!committed.ok) throw new Error(committed.problems.map(({ message }) => message).join('; '));
}
