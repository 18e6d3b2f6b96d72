import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runToEnd, sortInSteps } from '../../src/lib/steps.ts';

it('sorting in steps gives the same result as a stable sort', () => {
  const items = fc.array(fc.record({ key: fc.nat(20), at: fc.nat() }), { maxLength: 2000, size: 'max' });
  const compare = (a: { readonly key: number }, b: { readonly key: number }) => a.key - b.key;
  fc.assert(
    fc.property(items, (list) => {
      expect(runToEnd(sortInSteps(list, compare))).toEqual([...list].sort(compare));
    }),
    { numRuns: 50 },
  );
});

it('sorting in steps yields to other work more than 100 times for 10,000 items', () => {
  const work = sortInSteps(
    Array.from({ length: 10_000 }, (_, at) => -at),
    (a, b) => a - b,
  );
  let turns = 0;
  while (work.next().done !== true) turns += 1;
  expect(turns).toBeGreaterThan(100);
});
