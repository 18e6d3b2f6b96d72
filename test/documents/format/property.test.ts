import { test } from 'vitest';
import { formatTexts } from './formatted-texts.ts';

test('formatting keeps the values and comments of a few documents in any style, and gives the canonical form', () => {
  formatTexts(5);
});
