import { expect, it } from 'vitest';
import { createRandomPool } from '../../src/app/engine.ts';

it('a pool returns the requested number of random bytes, and never the same bytes twice', () => {
  const random = createRandomPool();
  const lengths = [...Array.from({ length: 2000 }, (_, at) => 8 + (at % 5)), 10_000];
  const drawn = lengths.map((length) => random(length));
  expect(drawn.map(({ length }) => length)).toEqual(lengths);
  expect(new Set(drawn.map((bytes) => Buffer.from(bytes).toString('hex'))).size).toBe(drawn.length);
});
