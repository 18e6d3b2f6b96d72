import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { integer, keyed, list, object } from '../../src/model/schema/field.ts';
import { prepareRequest } from '../../src/model/schema/prepare.ts';
import { createStoredValues } from '../../src/model/schema/validation/stored-values.ts';
import { anySpec, thing } from './sample-kinds.ts';

const readOnly = new Set(['id', 'created_at']);
const prepare = (body: JsonObject) => prepareRequest(thing.spec, readOnly, body);

describe('preparing a request body', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['null is absent', { note: null, owner: null, words: null }, {}],
    ['null for a required list is an empty one', { entries: null }, { entries: [] }],
    ['an empty list stays', { words: [] }, { words: [] }],
    ['summaries are ids again', { friends: [{ id: 'p1', name: 'Ann' }, 'p2'] }, { friends: ['p1', 'p2'] }],
    ['members as shown are ids again', { crew: [{ id: 'p1', name: 'Ann' }] }, { crew: ['p1'] }],
    ['one summary is its id', { owner: { id: 'p1', name: 'Ann' } }, { owner: 'p1' }],
    [
      'summaries inside entries too',
      { entries: [{ name: 'a', helpers: [{ id: 'p1' }] }] },
      { entries: [{ name: 'a', helpers: ['p1'] }] },
    ],
    ['the id of an entry stays', { entries: [{ id: 'e1', name: 'a' }] }, { entries: [{ id: 'e1', name: 'a' }] }],
    [
      'an empty id of an entry goes',
      {
        entries: [
          { id: '', name: 'a' },
          { id: null, name: 'b' },
        ],
      },
      { entries: [{ name: 'a' }, { name: 'b' }] },
    ],
    ['an empty typed reference goes', { target: { id: '', type: '' } }, {}],
    [
      'half a typed reference stays, to be refused',
      { target: { id: '', type: 'person' } },
      { target: { id: '', type: 'person' } },
    ],
    ['read-only members go', { id: 'x', created_at: 'now', name: 'one' }, { name: 'one' }],
    ['null inside objects is absent', { part: { x: null, inner: { depth: null } } }, { part: { inner: {} } }],
    ['null inside list items is absent', { steps: [{ at: 1, how: null }] }, { steps: [{ at: 1 }] }],
    [
      'a wrong type is left for validation',
      { friends: 'p1', part: 3, entries: 'x', owner: 5 },
      { friends: 'p1', part: 3, entries: 'x', owner: 5 },
    ],
  ])('%s', (_, body, expected) => {
    expect(prepare(body)).toEqual({ body: expected, ignored: [], givenOff: [], faults: [] });
  });

  test.each<[string, JsonObject, readonly string[]]>([
    ['at the top', { name: 'one', colr: 'red' }, ['/colr']],
    ['inside an object', { part: { y: 1, inner: { z: 2 } } }, ['/part/inner/z', '/part/y']],
    ['inside an entry', { entries: [{ name: 'a', colour: 'red' }] }, ['/entries/0/colour']],
    ['inside a list item', { steps: [{ at: 1, why: 'x' }] }, ['/steps/0/why']],
    ['read-only names count only at the top', { part: { created_at: 'now' } }, ['/part/created_at']],
    ['names that every object inherits', { constructor: 1, toString: 2 }, ['/constructor', '/toString']],
  ])('ignores and reports unknown members: %s', (_, body, ignored) => {
    const result = prepare(body);
    expect([...result.ignored].sort()).toEqual([...ignored].sort());
    expect(result.faults).toEqual([]);
    expect(prepare(result.body)).toEqual({ body: result.body, ignored: [], givenOff: [], faults: [] });
  });

  test.each<[string, JsonObject, Json]>([
    [
      'a closed object takes no unknown member',
      { extra: { levl: 2 } },
      { code: 'field_unknown', path: '/extra/levl', message: 'unknown field `levl`; did you mean `level`?' },
    ],
    [
      'nor one that is like nothing',
      { extra: { zzzzzz: 2 } },
      { code: 'field_unknown', path: '/extra/zzzzzz', message: 'unknown field `zzzzzz`; known are level' },
    ],
    [
      'a former name is refused with the right one',
      { title: 'x' },
      { code: 'field_renamed', path: '/title', message: '`title` is called `name` here; send `name`' },
    ],
    [
      'also inside an entry',
      { entries: [{ name: 'a', assistants: [] }] },
      {
        code: 'field_renamed',
        path: '/entries/0/assistants',
        message: '`assistants` is called `helpers` here; send `helpers`',
      },
    ],
  ])('%s', (_, body, fault) => {
    expect(prepare(body)).toMatchObject({ ignored: [], faults: [fault] });
  });

  test('reports 1,001 of thousands of unknown members, and finds a former name among them', () => {
    const unknown = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, at]));
    const { body, ignored, faults } = prepare({ ...unknown, name: 'one', title: 'x', extra: unknown });
    expect(body).toEqual({ name: 'one', extra: {} });
    expect([ignored.length, ignored[0], faults.length, faults[0]?.code]).toEqual([1001, '/k0', 1001, 'field_renamed']);
  });

  test('escapes `/` and `~` in pointers', () => {
    expect(prepare({ 'a/b~c': 1 }).ignored).toEqual(['/a~1b~0c']);
  });

  test('is idempotent, and does not edit its input', () => {
    fc.assert(
      fc.property(anySpec, (spec) => {
        const before = JSON.stringify(spec);
        const once = prepare(spec);
        expect(JSON.stringify(spec)).toBe(before);
        expect(prepare(once.body)).toEqual(once);
      }),
    );
  });
});

test('everything nested in a closed object is closed too, but its sibling is not', () => {
  const part = object({ x: integer({ doc: 'X.' }) }, { doc: 'Part.' });
  const fields = {
    shut: object(
      {
        part,
        parts: list(part, { doc: 'Parts.' }),
        named: keyed({ x: integer({ doc: 'X.' }) }, { doc: 'Named.', key: 'x' }),
      },
      { doc: 'Shut.', refusesUnknown: true },
    ),
    open: object({ part }, { doc: 'Open.' }),
  };
  const shut = { part: { y: 1 }, parts: [{ y: 1 }], named: [{ x: 1, y: 1 }] };
  const { faults, ignored } = prepareRequest(fields, new Set(), { shut, open: { part: { y: 1 } } });
  expect(faults.map(({ path }) => path)).toEqual(['/shut/part/y', '/shut/parts/0/y', '/shut/named/0/y']);
  expect(ignored).toEqual(['/open/part/y']);
});

test('entries of a list far beyond its limit are prepared only when validation accepts as many', () => {
  const entry = object({ x: integer({ doc: 'X.' }) }, { doc: 'Entry.' });
  const part = object({ few: list(entry, { doc: 'Few.', maxItems: 3 }) }, { doc: 'Part.' });
  const fields = { parts: list(part, { doc: 'Parts.' }) };
  const body = (count: number, member: JsonObject) => ({ parts: [{}, { few: Array(count).fill(member) }] });
  const stored = createStoredValues(body(10_004, {}));
  const prepared = (count: number) => prepareRequest(fields, new Set(), body(count, { x: null }), stored).body;
  expect(prepareRequest(fields, new Set(), body(10_004, { x: null })).body).toEqual(body(10_004, { x: null }));
  expect(prepared(20_004)).toEqual(body(20_004, {}));
  expect(prepared(20_005)).toEqual(body(20_005, { x: null }));
});
