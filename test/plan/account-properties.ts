import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exportDocuments } from '../../src/features/config/archive/export.ts';
import { canonicalJson, type Json } from '../../src/lib/json.ts';
import type { Document } from '../../src/model/document.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { accounts, edits, shuffled } from './arbitrary.ts';
import { checkPlan, checkState } from './invariants.ts';
import { applyOn, createOn, guardsOf, linesOf, office, planned, planOn, refusals } from './steps.ts';

function exported(state: Snapshot): readonly Document[] {
  return exportDocuments(state).map(({ kind, metadata, spec }, line) => ({
    kind,
    metadata,
    spec,
    position: { file: 'export.yaml', line, index: line, pointer: '' },
  }));
}

/** Declares the properties of any account, with these numbers of random accounts and of random edits. */
export function describeAccounts(runs: { readonly accounts: number; readonly edits: number }): void {
  describe('any account', () => {
    it('plans nothing after it is applied, for any order of files and members', () => {
      fc.assert(
        fc.property(
          accounts.chain((documents) => fc.tuple(fc.constant(documents), shuffled(documents))),
          ([documents, other]) => {
            const state = applyOn(office, 'a', documents);
            checkState(state);
            expect(linesOf(planOn(state, 'a', documents), state)).toEqual([]);
            expect(linesOf(planOn(state, 'a', other), state)).toEqual([]);
          },
        ),
        { numRuns: runs.accounts },
      );
    });

    it('E92, E109 gives the same plan and digest for any order of documents and members and for any new ids', () => {
      fc.assert(
        fc.property(
          accounts.chain((documents) => fc.tuple(fc.constant(documents), shuffled(documents))),
          ([documents, other]) => {
            const one = planOn(office, 'a', documents);
            const two = planOn(office, 'a', other, { ids: 'zz' });
            expect(linesOf(two, office)).toEqual(linesOf(one, office));
            expect(planned(two).plan.digest).toBe(planned(one).plan.digest);
          },
        ),
        { numRuns: runs.accounts },
      );
    });

    it('changes into any other account by one plan that lists all changes, and then plans nothing', () => {
      fc.assert(
        fc.property(accounts, accounts, (first, second) => {
          const state = applyOn(office, 'a', first);
          const { plan, next } = planned(planOn(state, 'a', second));
          checkPlan(plan, state, next);
          checkState(next);
          expect(linesOf(planOn(next, 'a', second), next)).toEqual([]);
        }),
        { numRuns: runs.accounts },
      );
    });

    it('reaches the same state directly and by way of another account', () => {
      fc.assert(
        fc.property(accounts, accounts, (first, second) => {
          const direct = shapeOf(applyOn(office, 'a', second));
          expect(shapeOf(applyOn(applyOn(office, 'a', first), 'a', second))).toEqual(direct);
        }),
        { numRuns: runs.accounts },
      );
    });

    it('E29, E80 plans no changes when another source plans its export, and then plans nothing', () => {
      fc.assert(
        fc.property(accounts, (documents) => {
          const byHand = planned(
            createOn(applyOn(office, 'a', documents), 'Group', { name: 'By hand', peers: ['p1', 'p3'] }),
          ).next;
          const { plan, next } = planned(planOn(byHand, 'b', exported(byHand)));
          expect(plan.changes).toEqual([]);
          checkPlan(plan, byHand, next);
          expect(linesOf(planOn(next, 'b', exported(next)), next)).toEqual([]);
          expect(linesOf(planOn(next, 'a', documents), next)).toEqual([]);
        }),
        { numRuns: runs.accounts },
      );
    });

    it('gets the same plan from the changed documents as from all documents', () => {
      fc.assert(
        fc.property(edits, ([first, second]) => {
          const before = planOn(office, 'a', first);
          fc.pre(before.ok);
          const state = planned(before).next;
          const [part, all] = [planOn(state, 'a', second, { since: first }), planOn(state, 'a', second)];
          expect(refusals(part)).toEqual(refusals(all));
          if (!all.ok) return;
          expect(linesOf(part, state)).toEqual(linesOf(all, state));
          expect(shapeOf(planned(part).next)).toEqual(shapeOf(all.next));
          expect(planned(part).plan.digest).toBe(all.plan.digest);
          expect(guardsOf(part)).toEqual(guardsOf(all));
        }),
        { numRuns: runs.edits },
      );
    });
  });
}

/** Returns a state with keys instead of ids, without times and revisions. */
function shapeOf(state: Snapshot): readonly string[] {
  const keys = new Map([...state.objects()].map((object) => [object.id, object.key ?? object.name]));
  const text = (value: Json) => canonicalJson(value).replaceAll(/new-\d+-\d+/g, (id) => keys.get(id) ?? id);
  return [...state.objects()]
    .map(({ kind, key, spec, owner }) =>
      text({ kind, key: key ?? null, owner: owner ?? null, spec: sortedLists(spec, keys) }),
    )
    .sort();
}

/** Sorts lists of ids by the keys of their objects, because the order of ids is unrelated to the order of keys. */
function sortedLists(value: Json, keys: ReadonlyMap<string, string>): Json {
  if (Array.isArray(value))
    return value
      .map((item) => sortedLists(keys.get(String(item)) ?? item, keys))
      .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, sortedLists(item, keys)]));
}
