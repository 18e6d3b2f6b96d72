import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileAccess, updateAccess } from '../../src/access/compile.ts';
import { aChange, anAccount, applyChange, runs, someCircumstances } from './account.ts';
import { naiveVerdicts, snapshotOf, verdictsOf } from './image.ts';

describe('access', () => {
  it('is what one finds by walking all rules for every pair and port', () => {
    fc.assert(
      fc.property(anAccount, someCircumstances, (objects, circumstances) => {
        const access = compileAccess(snapshotOf(objects), circumstances);
        expect(verdictsOf(access)).toEqual(naiveVerdicts({ objects, circumstances }));
      }),
      { numRuns: runs(150) },
    );
  });

  it('is carried on from change to change as if it were worked out anew', () => {
    const steps = fc.array(fc.tuple(aChange, fc.option(someCircumstances, { nil: undefined })), { maxLength: 5 });
    fc.assert(
      fc.property(anAccount, someCircumstances, steps, (first, known, changes) => {
        let [objects, circumstances, state] = [first, known, snapshotOf(first)];
        let access = compileAccess(state, circumstances);
        for (const [change, others] of changes) {
          objects = applyChange(objects, change);
          state = state.with(change);
          const changed = [...change.put.map(({ id }) => id), ...change.remove];
          if (others !== undefined) changed.push('p1', 'p2', 'p3', 'p4', 'p5', 'p6');
          circumstances = others ?? circumstances;
          access = updateAccess(access, state, changed, circumstances);
          expect(verdictsOf(access)).toEqual(verdictsOf(compileAccess(state, circumstances)));
        }
      }),
      { numRuns: runs(100) },
    );
  });
});
