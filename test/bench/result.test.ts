import { expect, it } from 'vitest';
import { isWithin, type Row } from './result.ts';

const row = (figure: number, budget?: Row['budget']): Row => {
  return { what: 'work', figure, reference: 100, unit: 'ms', ...(budget === undefined ? {} : { budget }) };
};

it('a row without a budget is within it', () => {
  expect(isWithin(row(900))).toBe(true);
});

it('a ratio is within its budget up to the limit, and not beyond', () => {
  const atMost = { is: 'at most', value: 2.5 } as const;
  const atLeast = { is: 'at least', value: 0.9 } as const;
  expect([250, 251].map((figure) => isWithin(row(figure, atMost)))).toEqual([true, false]);
  expect([90, 89].map((figure) => isWithin(row(figure, atLeast)))).toEqual([true, false]);
});

it.each([25, 0])('a figure without a reference is within its budget of %i up to the limit, and not beyond', (value) => {
  const count = (figure: number): Row => ({ what: 'statements', figure, unit: '', budget: { is: 'at most', value } });
  expect([value, value + 1].map((figure) => isWithin(count(figure)))).toEqual([true, false]);
});
