import fc from 'fast-check';
import { expect } from 'vitest';
import { emptyEnvironment } from '../../src/model/declare/plan-environment.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { planRollback } from '../../src/plan/rollback/rollback.ts';
import type { RollbackScope } from '../../src/plan/rollback/scope.ts';
import { checkPlan, checkState } from './invariants.ts';
import { planStep, steps } from './sequences.ts';
import { linesOf, now, office } from './steps.ts';

/** Plans the rollback from one state to another. */
export function rollBack(present: Snapshot, past: Snapshot, scope: RollbackScope = 'sources') {
  let count = 0;
  const newId = () => `back-${present.revision}-${++count}`;
  const planEnvironment = {
    now,
    newId,
    planEnvironment: { ...emptyEnvironment, random: (bytes: number) => new Uint8Array(bytes).fill(7) },
  };
  const work = planRollback({ snapshot: present, past, scope, ...planEnvironment });
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Rolls random histories back to an earlier state, in each scope. Returns the number of rollbacks that were not refused.
 */
export function rollBackHistories(runs: number): number {
  let done = 0;
  fc.assert(
    fc.property(steps, steps, (before, after) => {
      let past = office;
      for (const step of before) {
        const outcome = planStep(past, step);
        if (outcome?.ok === true) past = outcome.next;
      }
      let present = past;
      for (const step of after) {
        const outcome = planStep(present, step);
        if (outcome?.ok === true) present = outcome.next;
      }
      for (const scope of ['sources', 'source:a', 'all'] as const) {
        const outcome = rollBack(present, past, scope);
        if (!outcome.ok) continue;
        done += 1;
        checkPlan(outcome.plan, present, outcome.next);
        checkState(outcome.next);
        expect(linesOf(rollBack(outcome.next, past, scope), outcome.next)).toEqual([]);
        if (scope === 'all') expect(valuesOf(outcome.next)).toEqual(valuesOf(past));
      }
    }),
    { numRuns: runs },
  );
  return done;
}

/** Returns the values that a rollback with the scope `all` must restore. */
function valuesOf(state: Snapshot): unknown {
  const objects = [...state.objects()].map(({ id, key, owner, spec, declared, protected: kept }) => [
    id,
    { key, owner, spec, kept, declared: declared.map(({ source, stated }) => ({ source, stated })) },
  ]);
  return JSON.parse(JSON.stringify(Object.fromEntries(objects.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)))));
}
