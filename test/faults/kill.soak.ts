import { expect, it } from 'vitest';
import { killWhileApplying } from './killing.ts';

it.each([
  ['postgres', 200],
  ['embedded', 40],
] as const)(
  'kill -9 at any moment of an apply of 1,000 objects leaves the old or the new revision on %s, %i times',
  {
    timeout: 1_200_000,
  },
  async (engine, moments) => {
    const found = await killWhileApplying(engine, moments, 1000);
    expect(Math.min(found.old, found.new)).toBeGreaterThan(0);
  },
);
