import { expect, it } from 'vitest';
import { listCasts } from './casts.ts';

/** Maximum number of type assertions in the sources. A change that adds one must remove another. */
const most = 249;

it('the sources contain no more type assertions than the limit', () => {
  const casts = listCasts();
  expect(casts.length, casts.join('\n')).toBeLessThanOrEqual(most);
  // Shows that the compiler ran and read the sources.
  expect(casts.length).toBeGreaterThan(0);
});
