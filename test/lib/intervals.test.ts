import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  countNumbers,
  type Interval,
  intersectIntervals,
  mergeIntervals,
  subtractIntervals,
  takeNumbers,
} from '../../src/lib/bits/intervals.ts';

const intervals = fc
  .array(
    fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 8 })).map(([start, length]) => ({
      start,
      end: start + length,
    })),
    { maxLength: 6 },
  )
  .map(mergeIntervals);

const numbersOf = (list: readonly Interval[]): readonly number[] =>
  list.flatMap(({ start, end }) => Array.from({ length: end - start + 1 }, (_, at) => start + at));

describe('intervals', () => {
  it('are joined, subtracted and intersected like the sets of their numbers', () => {
    fc.assert(
      fc.property(intervals, intervals, (one, other) => {
        const [a, b] = [numbersOf(one), new Set(numbersOf(other))];
        expect(numbersOf(subtractIntervals(one, other))).toEqual(a.filter((number) => !b.has(number)));
        expect(numbersOf(intersectIntervals(one, other))).toEqual(a.filter((number) => b.has(number)));
        expect(numbersOf(mergeIntervals([...one, ...other]))).toEqual([...new Set([...a, ...b])].sort((x, y) => x - y));
        expect(countNumbers(one)).toBe(a.length);
      }),
    );
  });

  it('yield the requested count of numbers, in one run when one is long enough', () => {
    fc.assert(
      fc.property(intervals, fc.integer({ min: 1, max: 30 }), (list, count) => {
        const taken = takeNumbers(list, count);
        if (countNumbers(list) < count) {
          expect(taken).toBeUndefined();
          return;
        }
        expect(countNumbers(taken ?? [])).toBe(count);
        expect(subtractIntervals(taken ?? [], list)).toEqual([]);
        if (list.some(({ start, end }) => end - start + 1 >= count)) expect(taken).toHaveLength(1);
      }),
    );
  });
});
