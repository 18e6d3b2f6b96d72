import { expect, it } from 'vitest';
import { writeInDoubt } from './in-doubt-writes.ts';

const doubts = Number(process.env['HEDDLE_SOAK_DOUBTS'] ?? '1000');

it(`E96 ${doubts} writes of every shape that lose their connection are answered as they were committed`, {
  timeout: 30 * 60_000,
}, async () => {
  const result = await writeInDoubt({ doubts }, Math.random);
  expect({ unknown: result.unknown, wrong: result.wrong }).toEqual({ unknown: 0, wrong: [] });
  expect(result.doubts).toBeGreaterThanOrEqual(doubts);
});
