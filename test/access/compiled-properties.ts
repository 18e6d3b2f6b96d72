import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileAccess, updateAccess } from '../../src/access/ruleset/compile.ts';
import { aChange, anAccount, applyChange, type Runs, someObservedPeers } from './account.ts';
import { naiveVerdicts, snapshotOf, verdictsOf } from './image.ts';

/** Declares the property tests of compiled access. `runs` returns the number of runs of each. */
export function testCompiledAccess(runs: Runs): void {
  describe('compiled access', () => {
    it('equals the result of checking all rules for every pair and port', () => {
      fc.assert(
        fc.property(anAccount, someObservedPeers, (objects, observedPeers) => {
          const access = compileAccess(snapshotOf(objects), observedPeers);
          expect(verdictsOf(access)).toEqual(naiveVerdicts({ objects, observedPeers }));
        }),
        { numRuns: runs(150) },
      );
    });

    it('equals a full recompilation after every incremental update', () => {
      const steps = fc.array(fc.tuple(aChange, fc.option(someObservedPeers, { nil: undefined })), { maxLength: 5 });
      fc.assert(
        fc.property(anAccount, someObservedPeers, steps, (first, known, changes) => {
          let [objects, observedPeers, state] = [first, known, snapshotOf(first)];
          let access = compileAccess(state, observedPeers);
          for (const [change, others] of changes) {
            objects = applyChange(objects, change);
            state = state.with(change);
            const changed = [...change.put.map(({ id }) => id), ...change.remove];
            if (others !== undefined) changed.push('p1', 'p2', 'p3', 'p4', 'p5', 'p6');
            observedPeers = others ?? observedPeers;
            access = updateAccess(access, state, changed, observedPeers);
            expect(verdictsOf(access)).toEqual(verdictsOf(compileAccess(state, observedPeers)));
          }
        }),
        { numRuns: runs(100) },
      );
    });
  });
}
