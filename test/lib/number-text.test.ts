import { expect, it } from 'vitest';
import { formatNumber } from '../../src/lib/number-text.ts';

it('numbers are written with thousands separators as in English', () => {
  for (const number of [0, 7, 999, 1000, 12_345, 999_999, 1_000_000, 1_234_567_890])
    expect(formatNumber(number)).toBe(number.toLocaleString('en-US'));
});
