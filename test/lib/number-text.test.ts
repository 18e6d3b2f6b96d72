import { expect, it } from 'vitest';
import { numberText } from '../../src/lib/number-text.ts';

it('writes numbers as English does', () => {
  for (const number of [0, 7, 999, 1000, 12_345, 999_999, 1_000_000, 1_234_567_890])
    expect(numberText(number)).toBe(number.toLocaleString('en-US'));
});
