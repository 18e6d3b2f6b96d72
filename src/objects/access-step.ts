import type { Access } from '../access/ruleset/access.ts';
import { kindOf, partOf, testKind } from '../access/ruleset/object-readers.ts';
import type { Engine } from '../commit/engine.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import type { Plan } from '../plan/plan.ts';

/**
 * The account before and after a step as far as access goes; facts that peers reported are left out, so that plans do
 * not depend on them.
 */
export interface AccessStep {
  readonly before: Access;
  readonly after: Access;
}

/** The images before and after. */
export async function accessStep(engine: Engine, before: Snapshot, next: Snapshot): Promise<AccessStep> {
  const image = await engine.access.bare(before);
  return { before: image, after: await engine.access.after(image, before, next) };
}

/** Whether a plan may change who reaches whom, as far as its kinds show. */
export function touchesAccess({ changes }: Plan, before: Snapshot, next: Snapshot): boolean {
  const peers = before.countOf(kindOf.peer) + next.countOf(kindOf.peer);
  return peers > 0 && touchesParts({ changes });
}

/** Whether a plan may change what tests find: with or without anybody who is there. */
export function touchesTests({ changes }: Plan, next: Snapshot): boolean {
  if (next.countOf(testKind) === 0) return false;
  return touchesParts({ changes }) || changes.some(({ after }) => after?.kind === testKind);
}

function touchesParts({ changes }: Pick<Plan, 'changes'>): boolean {
  return changes.some(({ before, after }) => partOf(after ?? before) !== undefined);
}
