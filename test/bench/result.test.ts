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

it('a count is over its budget as soon as it misses it', () => {
  const count = { what: 'statements', figure: 26, unit: '', budget: { is: 'at most', value: 25 } } as const;
  expect(verdictOf(count)).toBe('over');
});
