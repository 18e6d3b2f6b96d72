import { expect, it } from 'vitest';
import { killWhileApplying } from './killing.ts';

it('kill -9 at any of 6 moments of an apply leaves the old or the new revision on postgres', {
  timeout: 600_000,
}, async () => {
  const found = await killWhileApplying('postgres', 6, 200);
  // Both kinds of moments must occur, or the test shows nothing.
  expect(Math.min(found.old, found.new)).toBeGreaterThan(0);
});

it('kill -9 during an apply leaves an embedded database that opens, at the old or the new revision', {
  timeout: 600_000,
}, async () => {
  const found = await killWhileApplying('embedded', 2, 200);
  expect(found.old + found.new).toBe(2);
});
