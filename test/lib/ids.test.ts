import { expect, test } from 'vitest';
import { createIdSource } from '../../src/lib/ids.ts';

const fixed = (length: number) => new Uint8Array(length).fill(0xab);
const sourceAt = (...times: number[]) => {
  let index = 0;
  return createIdSource({ now: () => times[Math.min(index++, times.length - 1)] ?? 0, random: fixed });
};

test('an id is 20 characters of lower-case base32hex', () => {
  const next = sourceAt(1_700_000_000_000);
  expect(next()).toMatch(/^[0-9a-v]{20}$/);
});

test('an id encodes seconds, a counter and random bytes', () => {
  const next = sourceAt(0x4d88e15b * 1000 + 999);
  next();
  const bits = [...next()].map((digit) => Number.parseInt(digit, 32).toString(2).padStart(5, '0')).join('');
  expect((BigInt(`0b${bits}`) >> 4n).toString(16)).toBe('4d88e15b0001abababababab');
});

test('ids of one source increase strictly, also when the clock stops or is set back', () => {
  const next = sourceAt(5000, 5000, 5999, 1000, 6000, 6000, 2000);
  const ids = Array.from({ length: 100 }, next);
  expect(ids).toEqual([...new Set(ids)].sort());
  expect(ids.length).toBe(100);
});

test('the next id cannot be guessed from a known one', () => {
  const drawn: number[] = [];
  const next = createIdSource({
    now: () => 1000,
    random: (length) => {
      drawn.push(length);
      return new Uint8Array(length).fill(drawn.length);
    },
  });
  const ends = [next(), next(), next()].map((id) => id.slice(10));
  expect(drawn).toEqual([6, 6, 6]);
  expect(new Set(ends).size).toBe(3);
});

test('two sources with different random bytes create different ids', () => {
  const one = createIdSource({ now: () => 1000, random: (length) => new Uint8Array(length) })();
  expect(one).not.toBe(sourceAt(1000)());
});
