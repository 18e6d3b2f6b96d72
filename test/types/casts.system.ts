import { expect, it } from 'vitest';
import { listCasts } from './casts.ts';

/** How many casts the code may have; a change that needs one more takes another one away. */
const most = 249;

it('the sources contain no more type assertions than the limit', () => {
  const casts = listCasts();
  expect(casts.length, casts.join('\n')).toBeLessThanOrEqual(most);
  // The compiler was asked, and it saw the sources.
  expect(casts.length).toBeGreaterThan(0);
});
