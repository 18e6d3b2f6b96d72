import { expect, it } from 'vitest';
import { readQuery } from '../../../src/model/operation/query.ts';
import { addRack } from './sample.ts';

it('a query is read by its declared fields, with defaults; an empty value is absent', () => {
  const given = { limit: '7', order: '', since: '2026-03-01T10:00:00 01:00', all: 'true', near: 'door', other: 'x' };
  expect(readQuery(addRack.query, given)).toEqual({
    query: { limit: 7, order: 'asc', since: '2026-03-01T09:00:00.000Z', all: true, near: 'door' },
    faults: [],
  });
});

it('a query is refused with all of its faults', () => {
  const { faults } = readQuery(addRack.query, { limit: '11', order: 'up', since: 'today', all: 'yes' });
  expect(faults.map(({ code, message }) => [code, message])).toEqual([
    ['filter_invalid', '`limit` must be a whole number from 0 to 10'],
    ['filter_invalid', '`order` must be one of asc, desc'],
    [
      'filter_invalid',
      '`since`: this is not a time; write a date such as 2026-03-01, or a time such as 2026-03-01T10:00:00Z',
    ],
    ['filter_invalid', '`all` must be true or false'],
    ['field_required', '`near` is required; add it'],
  ]);
});

it('a number above its maximum is read as the maximum where the field is clamped', () => {
  expect(readQuery(addRack.query, { near: 'door', page: '11' }).query).toMatchObject({ page: 10 });
  expect(readQuery(addRack.query, { near: 'door', page: '0' }).faults).toHaveLength(1);
});

it('a text in a query has at most 1,000 characters, even if its field allows more in a body', () => {
  const near = (length: number) => readQuery(addRack.query, { near: 'x'.repeat(length) }).faults;
  expect(near(1000)).toEqual([]);
  expect(near(1001)).toMatchObject([{ path: '/near', message: '`near` must have at most 1000 characters' }]);
});
