import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addBits,
  addCommonBits,
  type BitSet,
  bitsOf,
  countBits,
  countCommonBits,
  differingBits,
  dropBits,
  equalBits,
  hasAllBits,
  hasBit,
  haveCommonBits,
  intersectBits,
  isEmptyBits,
  noBits,
  numbersIn,
  setBit,
  subtractBits,
  uniteBits,
} from '../../src/lib/bits/bit-set.ts';

const numbers = fc.uniqueArray(fc.oneof(fc.nat(70), fc.constantFrom(31, 32, 63, 64, 1000)), { maxLength: 30 });
const rising = (list: Iterable<number>) => [...list].sort((a, b) => a - b);

describe('bit sets', () => {
  it('behave like sets of numbers, whatever their lengths', () => {
    fc.assert(
      fc.property(numbers, numbers, (one, other) => {
        const [a, b] = [bitsOf(one), bitsOf(other)];
        const common = one.filter((number) => other.includes(number));
        const [left, right] = [one, other].map((list) => list.filter((number) => !common.includes(number)));
        expect(numbersIn(a)).toEqual(rising(one));
        expect(numbersIn(uniteBits(a, b))).toEqual(rising(new Set([...one, ...other])));
        expect(numbersIn(intersectBits(a, b))).toEqual(rising(common));
        expect(numbersIn(subtractBits(a, b))).toEqual(rising(left ?? []));
        expect(numbersIn(differingBits(a, b))).toEqual(rising([...(left ?? []), ...(right ?? [])]));
        expect(countBits(a)).toBe(one.length);
        const both = uniteBits(a, b);
        expect([countCommonBits(a, b, both), countCommonBits(both, a, b)]).toEqual([common.length, common.length]);
        expect(haveCommonBits(a, b)).toBe(common.length > 0);
        expect(hasAllBits(a, b)).toBe(right?.length === 0);
        expect(isEmptyBits(a)).toBe(one.length === 0);
        expect(equalBits(a, b)).toBe(left?.length === 0 && right?.length === 0);
        expect(other.map((number) => hasBit(a, number))).toEqual(other.map((number) => one.includes(number)));
      }),
    );
  });

  it('do not change while others are built from them', () => {
    const [a, b] = [bitsOf([1, 40]), bitsOf([2, 40, 90])];
    for (const build of [uniteBits, intersectBits, subtractBits, differingBits]) build(a, b);
    expect([numbersIn(a), numbersIn(b)]).toEqual([
      [1, 40],
      [2, 40, 90],
    ]);
  });

  it('are equal when they differ only by trailing zeros', () => {
    const long = new Int32Array(4);
    setBit(long, 5);
    expect(equalBits(long, bitsOf([5]))).toBe(true);
    expect(equalBits(noBits, new Int32Array(3))).toBe(true);
    expect(equalBits(bitsOf([5, 127]), bitsOf([5]))).toBe(false);
  });

  it('can be changed in place', () => {
    const set: BitSet = new Int32Array(3);
    addBits(set, bitsOf([0, 31, 64]));
    dropBits(set, bitsOf([31, 500]));
    expect(numbersIn(set)).toEqual([0, 64]);
    addCommonBits(set, bitsOf([3, 40, 70]), bitsOf([4, 40, 70, 200]));
    expect(numbersIn(set)).toEqual([0, 40, 64, 70]);
    expect(numbersIn(uniteBits())).toEqual([]);
  });
});
