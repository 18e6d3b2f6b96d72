import fc from 'fast-check';
import { expect, it } from 'vitest';
import { bitsOf } from '../../src/lib/bits/bit-set.ts';
import { partition } from '../../src/lib/bits/partition.ts';

const numbers = fc.uniqueArray(fc.nat(80), { maxLength: 20 });

it('two numbers are in the same class exactly when every set contains both or neither', () => {
  fc.assert(
    fc.property(numbers, fc.array(numbers, { maxLength: 6 }), (among, sets) => {
      const classes = partition(bitsOf(among), sets.map(bitsOf));
      expect(classes.flat().sort((a, b) => a - b)).toEqual([...among].sort((a, b) => a - b));
      const classOf = (number: number) => classes.findIndex((members) => members.includes(number));
      const memberships = (number: number) => sets.map((set) => set.includes(number)).join();
      for (const a of among)
        for (const b of among) expect(classOf(a) === classOf(b)).toBe(memberships(a) === memberships(b));
    }),
  );
});
