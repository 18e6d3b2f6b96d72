import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { string } from '../../src/model/schema/field.ts';
import { defaultOf, normalize, normalizeStated } from '../../src/model/schema/normalize.ts';
import { anySpec, thing } from './sample-kinds.ts';

const full = (spec: JsonObject) => normalize(thing.spec, spec).spec;
const stated = (spec: JsonObject) => normalizeStated(thing.spec, spec).spec;

describe('normalize', () => {
  test('fills every default, and leaves fields without a default absent', () => {
    expect(full({ name: 'one' })).toEqual({
      name: 'one',
      note: '',
      size: 1,
      on: true,
      colour: 'red',
      words: [],
      numbers: [],
      steps: [],
      entries: [],
      part: { x: 0, inner: { depth: 3, words: [] } },
      friends: [],
      crew: [],
      rights: {},
    });
  });

  test.each<[string, string, Json, Json | undefined]>([
    ['a set is sorted and without repeats', 'words', ['c', 'a', 'c'], ['a', 'c']],
    ['a set of numbers is sorted by number', 'numbers', [10, 9, 10], [9, 10]],
    [
      'an ordered list keeps its order',
      'steps',
      [
        { at: 2, how: 'x' },
        { at: 1, how: 'y' },
      ],
      [
        { at: 2, how: 'x' },
        { at: 1, how: 'y' },
      ],
    ],
    [
      'entries are sorted by their key and filled',
      'entries',
      [{ name: 'b' }, { name: 'a' }],
      [entryOf('a'), entryOf('b')],
    ],
    ['a scalar has one spelling', 'code', 'ABC', 'abc'],
    ['an element has one spelling, also when two become one', 'words', ['B', 'b'], ['b']],
    ['references are a sorted set', 'friends', ['b', 'a', 'b'], ['a', 'b']],
    [
      'members as origins are sorted',
      'crew',
      { b: ['idp', 'api', 'api'], a: ['api'] },
      { a: ['api'], b: ['api', 'idp'] },
    ],
    ['an empty typed reference is absent', 'target', { id: '', type: '' }, undefined],
    ['an empty reference is absent', 'owner', '', undefined],
    ['an empty text is absent where no text is empty', 'code', '', undefined],
    ['an empty text is a text elsewhere', 'note', '', ''],
    ['null is the default', 'on', null, true],
    ['null is absent without a default', 'extra', null, undefined],
    ['an object is filled', 'part', { x: 2 }, { x: 2, inner: { depth: 3, words: [] } }],
  ])('%s', (_, field, value, expected) => {
    expect(full({ [field]: value })[field]).toEqual(expected);
  });

  test('keeps what cannot be made canonical, and reports its path', () => {
    const { spec, faults } = normalize(thing.spec, { code: '1', entries: [{ name: 'a', tags: ['ok', '?'] }] });
    expect(spec['code']).toBe('1');
    expect(faults).toEqual([
      { code: 'name_invalid', path: '/code', message: 'write letters only' },
      { code: 'name_invalid', path: '/entries/0/tags/1', message: 'write letters only' },
    ]);
  });

  test('does not read the format of a text that is too long', () => {
    const unread = () => {
      throw new Error('the format was read');
    };
    const field = string({ doc: 'A text.', maxLength: 4, format: { name: 'name', canonical: unread } });
    for (const text of ['abcde', '😀'.repeat(5), 'x'.repeat(1_000_000)])
      expect(normalize({ field }, { field: text })).toMatchObject({ spec: { field: text }, faults: [] });
    expect(() => normalize({ field }, { field: '😀'.repeat(4) })).toThrow('the format was read');
  });

  test('leaves a stated spec partial, but completes its entries and items', () => {
    expect(stated({ entries: [{ name: 'a' }], steps: [{ at: 1 }], part: { inner: {} }, owner: null })).toEqual({
      entries: [entryOf('a')],
      steps: [{ at: 1, how: 'softly' }],
      part: { inner: {} },
    });
  });

  test.each([
    ['full', normalize],
    ['stated', normalizeStated],
  ] as const)('is idempotent and does not edit its input (E40): %s', (_, form) => {
    fc.assert(
      fc.property(anySpec, (spec) => {
        const before = JSON.stringify(spec);
        const once = form(thing.spec, spec);
        expect(JSON.stringify(spec)).toBe(before);
        const twice = form(thing.spec, once.spec);
        expect(JSON.stringify(twice.spec)).toBe(JSON.stringify(once.spec));
        expect(twice.faults.length > 0).toBe(once.faults.length > 0);
      }),
    );
  });

  test('gives the same full form for the stated form as for the original spec', () => {
    fc.assert(fc.property(anySpec, (spec) => void expect(full(stated(spec))).toEqual(full(spec))));
  });

  test('gives a canonical default, and none for a field without a default', () => {
    expect(defaultOf(thing.spec['part'] as never)).toEqual({ x: 0, inner: { depth: 3, words: [] } });
    expect(defaultOf(thing.spec['owner'] as never)).toBeUndefined();
  });
});

function entryOf(name: string): JsonObject {
  return { name, on: true, tags: [], helpers: [] };
}
