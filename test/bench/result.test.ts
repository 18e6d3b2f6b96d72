import { expect, it } from 'vitest';
import { type Row, verdictOf } from './result.ts';

const row = (figure: number, budget?: Row['budget'], unit: Row['unit'] = 'ms'): Row => {
  return { what: 'work', figure, reference: 100, unit, ...(budget === undefined ? {} : { budget }) };
};

it('a row without a budget is only reported', () => {
  expect(verdictOf(row(900))).toBe('reported');
});

it('a time that misses its budget by at most 30 % is near it, and a longer one is over it', () => {
  const budget = { is: 'at most', value: 2.5 } as const;
  expect([250, 251, 325, 326].map((figure) => verdictOf(row(figure, budget)))).toEqual(['ok', 'near', 'near', 'over']);
});

it('a rate that misses its budget by at most 30 % is near it, and a lower one is over it', () => {
  const budget = { is: 'at least', value: 0.9 } as const;
  expect([90, 89, 70, 69].map((figure) => verdictOf(row(figure, budget, '/s')))).toEqual([
    'ok',
    'near',
    'near',
    'over',
  ]);
});

it.each([25, 0])('a figure without a reference is over its budget of %i as soon as it misses it', (value) => {
  const count = (figure: number): Row => ({ what: 'statements', figure, unit: '', budget: { is: 'at most', value } });
  expect([value, value + 1].map((figure) => verdictOf(count(figure)))).toEqual(['ok', 'over']);
});
