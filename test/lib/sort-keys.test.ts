import fc from 'fast-check';
import { expect, it } from 'vitest';
import { increasingKeys, keyAfter } from '../../src/lib/sort-keys.ts';

const id = fc.stringMatching(/^[0-9a-v]{4}$/);
const isIncreasing = (keys: readonly string[]) => keys.every((key, at) => at === 0 || (keys[at - 1] ?? '') < key);

it('sort keys can put elements in any order repeatedly, and stay below every later id', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(id, { minLength: 1, maxLength: 12 }),
      fc.array(fc.array(fc.nat(), { minLength: 12, maxLength: 12 }), { maxLength: 20 }),
      (ids, moves) => {
        let keys = new Map(ids.map((one) => [one, one]));
        for (const move of moves) {
          const order = ids.toSorted((a, b) => (move[ids.indexOf(a)] ?? 0) - (move[ids.indexOf(b)] ?? 0));
          const next = increasingKeys(order.map((one) => keys.get(one) ?? one));
          expect(isIncreasing(next)).toBe(true);
          expect(next.every((key) => key < 'vvvvv')).toBe(true);
          keys = new Map(order.map((one, at) => [one, next[at] ?? '']));
        }
        const last = [...keys.values()].reduce((a, b) => (a < b ? b : a));
        const after = keyAfter(last);
        expect([last < after, after < 'vvvvv']).toEqual([true, true]);
      },
    ),
  );
});

it('moving an element changes only its own sort key', () => {
  fc.assert(
    fc.property(fc.uniqueArray(id, { minLength: 2, maxLength: 30 }), fc.nat(), fc.nat(), (ids, from, to) => {
      const sorted = ids.toSorted();
      const [moved = ''] = sorted.splice(from % ids.length, 1);
      const order = sorted.toSpliced(to % ids.length, 0, moved);
      const keys = increasingKeys(order);
      expect(keys.filter((key, at) => key !== order[at]).length).toBeLessThanOrEqual(1);
      expect(isIncreasing(keys)).toBe(true);
    }),
  );
});

it('sort keys stay short when one element is moved to the front 1,000 times', () => {
  let keys: readonly string[] = ['a1', 'a2', 'a3'];
  for (let round = 0; round < 1000; round++) {
    const [first = '', second = '', third = ''] = keys;
    keys = increasingKeys([third, first, second]);
    expect(isIncreasing(keys)).toBe(true);
    expect(Math.max(...keys.map((key) => key.length))).toBeLessThan(220);
  }
});
