import { equalJson, type Json, type JsonObject } from '../lib/json.ts';
import type { StoredObject } from '../model/state/object.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import { type Edit, finishPlan } from '../plan/finish.ts';
import type { PlanOutcome } from '../plan/plan.ts';
import type { Engine } from './engine.ts';

/** Plans edits that the server makes itself. For the rules they have no actor. */
export function planEdits(
  engine: Engine,
  snapshot: Snapshot,
  edits: readonly Edit[],
  now: string = engine.now(),
): PlanOutcome {
  return finishPlan({
    ...{ snapshot, edits, now, newId: engine.newId, planEnvironment: engine.planEnvironment },
    locate: ({ kind, name }, { code, path, message }) => ({ code, kind, key: name, path, message }),
  });
}

/** Facts that the server keeps about an object. An `undefined` fact is removed. */
export type Derived = Readonly<Record<string, Json | undefined>>;

/** Returns the edit that changes the facts that the server keeps about an object. */
export function editDerivedFacts(engine: Engine, before: StoredObject, derived: Derived): Edit {
  const members = Object.entries({ ...before.derived, ...derived }).filter(([, value]) => value !== undefined);
  // Without undefined members, the facts are JSON.
  const facts = Object.fromEntries(members) as JsonObject;
  if (equalJson(facts, before.derived)) return { before, after: before };
  return { before, after: { ...before, derived: facts, updatedAt: engine.now() }, internal: true };
}
