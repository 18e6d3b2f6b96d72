import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChangeRow, changeRows, replay } from '../../src/db/commit/history.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { checkPlan, checkState, objectsOf } from './invariants.ts';
import { planStep, steps } from './sequences.ts';
import { linesOf, now, office, planOn } from './steps.ts';

/** Declares the properties of interleaved plans, with these numbers of random sequences. */
export function describeInterleavings(runs: { readonly checked: number; readonly replayed: number }): void {
  describe('two sources and the API together', () => {
    it('keep every reference, stated unit and member, and plan nothing right after an apply', () => {
      fc.assert(
        fc.property(steps, (sequence) => {
          let state = office;
          for (const step of sequence) {
            const outcome = planStep(state, step);
            if (outcome?.ok !== true) continue;
            checkPlan(outcome.plan, state, outcome.next);
            state = outcome.next;
            checkState(state);
            if (step.does === 'apply') expect(linesOf(planOn(state, step.source, step.documents), state)).toEqual([]);
          }
        }),
        { numRuns: runs.checked },
      );
    });

    it('E158 end in the state that a replay of their history gives', () => {
      fc.assert(
        fc.property(steps, (sequence) => {
          let state = office;
          const plans: Plan[] = [];
          for (const step of sequence) {
            const outcome = planStep(state, step);
            if (outcome?.ok !== true) continue;
            plans.push(outcome.plan);
            state = outcome.next;
          }
          const rows = plans.flatMap((plan) =>
            changeRows({
              revision: plan.base + 1,
              plan,
              actor: { type: 'system', id: 'sys', name: 'system' },
              requestId: 'r',
              at: now,
              events: [],
            }),
          );
          expect(
            objectsOf(replay(office, JSON.parse(JSON.stringify(rows)) as readonly ChangeRow[], state.revision)),
          ).toEqual(objectsOf(state));
        }),
        { numRuns: runs.replayed },
      );
    });
  });
}
