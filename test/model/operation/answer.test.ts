import { describe, expect, it } from 'vitest';
import { findMismatch } from '../../../src/model/operation/answer.ts';
import { nullable } from '../../../src/model/operation/fields.ts';
import { integer, refs } from '../../../src/model/schema/field.ts';
import { present } from '../../setup/present.ts';
import { addRack } from './sample.ts';

const answer = present(addRack.answer);

describe('the answer of an operation', () => {
  it.each([{ racks: [] }, { racks: [{ id: 'a', made_at: '2026-03-01T00:00:00Z', later: 1 }] }])(
    'fits its declaration as %j',
    (value) => {
      expect(findMismatch(answer, value)).toBeUndefined();
    },
  );

  it.each<readonly [unknown, string]>([
    ['<html>', ''],
    [{}, '/racks'],
    [{ racks: {} }, '/racks'],
    [{ racks: [{ id: 'a' }, {}] }, '/racks/1/id'],
    [{ racks: [{ id: 'a', made_at: 7 }] }, '/racks/0/made_at'],
  ])('does not fit its declaration as %j', (value, at) => {
    expect(findMismatch(answer, value)).toBe(at);
  });

  it('is a list of texts where the declaration refers to objects', () => {
    const field = refs('Group', { doc: 'The groups.' });
    expect([['a', 'b'], 'a', ['a', 7]].map((value) => findMismatch(field, value))).toEqual([undefined, '', '/1']);
  });

  it('may be null where the declaration allows it', () => {
    const field = nullable(integer({ doc: 'The revision.' }));
    expect([null, 7, '7', 1.5].map((value) => findMismatch(field, value))).toEqual([undefined, undefined, '', '']);
  });
});
