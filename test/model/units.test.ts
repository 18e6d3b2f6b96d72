import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { equalJson, type Json, type JsonObject } from '../../src/lib/json.ts';
import { keyedEntries } from '../../src/model/schema/entries.ts';
import { boolean, object, string } from '../../src/model/schema/field.ts';
import { normalize, normalizeStated } from '../../src/model/schema/normalize.ts';
import { completeSpec, contentFromSpec } from '../../src/model/state/members.ts';
import { applyUnits, diffUnits, resetValue, unitsOf } from '../../src/model/state/units.ts';
import { anySpec, thing } from './sample-kinds.ts';

/** Generates stored specs: canonical, with members stored as origins. */
const stored = anySpec.map((spec) => completeSpec(contentFromSpec(thing.spec, normalize(thing.spec, spec).spec)));
const content = (spec: JsonObject) => contentFromSpec(thing.spec, spec);
const diff = (before: JsonObject, after: JsonObject) => diffUnits(thing.spec, content(before), content(after));
const apply = (spec: JsonObject, changes: Parameters<typeof applyUnits>[2]) =>
  completeSpec(applyUnits(thing.spec, content(spec), changes));

describe('units', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['a scalar is one', { size: 2 }, { size: 2 }],
    ['an ordered list is one', { steps: [{ at: 1 }] }, { steps: [{ at: 1 }] }],
    ['a set has one for each element', { words: ['a', 'b'] }, { 'words[a]': true, 'words[b]': true }],
    ['members as stated are elements', { crew: ['ann'] }, { 'crew[ann]': true }],
    ['members as kept have their origins', { crew: { ann: ['api'] } }, { 'crew[ann]': ['api'] }],
    ['a keyed list has one for each entry', { entries: [{ name: 'a.b' }] }, { 'entries[a.b]': { name: 'a.b' } }],
    [
      'an object has those of its members',
      { part: { x: 1, inner: { words: ['w'] } } },
      { 'part.x': 1, 'part.inner.words[w]': true },
    ],
    ['a map has one for each name', { rights: { ann: ['r'] } }, { 'rights[ann]': ['r'] }],
    ['a typed reference is one', { target: { id: 'a', type: 'person' } }, { target: { id: 'a', type: 'person' } }],
    ['an unknown member has none', { other: 1 }, {}],
  ])('%s', (_, spec, units) => {
    expect(Object.fromEntries(unitsOf(thing.spec, spec))).toEqual(units);
  });

  test.each<[string, JsonObject, JsonObject, Json]>([
    ['a scalar', { size: 1 }, { size: 2 }, [{ path: 'size', before: 1, after: 2 }]],
    ['an unset scalar', { code: 'a' }, {}, [{ path: 'code', before: 'a' }]],
    [
      'a set, element by element',
      { words: ['a', 'b'] },
      { words: ['b', 'c'] },
      [
        { path: 'words[a]', before: true },
        { path: 'words[c]', after: true },
      ],
    ],
    [
      'an entry, whole',
      { entries: [{ name: 'a', on: true }] },
      { entries: [{ name: 'a', on: false }] },
      [{ path: 'entries[a]', before: { name: 'a', on: true }, after: { name: 'a', on: false } }],
    ],
    ['a member of an object', { part: { x: 1 } }, { part: { x: 2 } }, [{ path: 'part.x', before: 1, after: 2 }]],
    ['nothing', { words: [], part: { x: 1 } }, { part: { x: 1 }, words: [] }, []],
  ])('are compared one by one: %s', (_, before, after, changes) => {
    expect(diff(before, after)).toEqual(changes);
  });

  test.each<[string, readonly string[], readonly string[]]>([
    ['one name each', ['a', 'b'], ['a', 'b']],
    ['a repeated name gets an ordinal', ['a', 'a', 'a'], ['a', 'a#2', 'a#3']],
    ['a name that looks like an ordinal stays apart', ['a', 'a', 'a#2'], ['a', 'a#2', 'a#2#2']],
    ['whatever the order', ['a#2', 'a', 'a'], ['a#2', 'a', 'a#3']],
  ])('have distinct keys for entries: %s', (_, names, keys) => {
    expect(
      keyedEntries(
        'name',
        names.map((name) => ({ name })),
      ).map(([key]) => key),
    ).toEqual(keys);
  });

  test('turn one spec into the other when their difference is applied', () => {
    fc.assert(
      fc.property(stored, stored, (before, after) => {
        const text = JSON.stringify(before);
        expect(apply(before, diff(before, after))).toEqual(after);
        expect(JSON.stringify(before)).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  test('order repeated names by number: the twelfth entry of a name comes after the second', () => {
    const repeated = (count: number) => ({
      entries: Array.from({ length: count }, (_, at) => ({ name: 'a', on: at % 3 === 0, tags: [`t${at}`] })),
    });
    expect(apply(repeated(1), diff(repeated(1), repeated(12)))).toEqual({ ...repeated(12), crew: {} });
  });

  test('have no difference exactly when the specs are equal', () => {
    fc.assert(fc.property(stored, stored, (a, b) => void expect(diff(a, b).length === 0).toBe(equalJson(a, b))));
  });

  test('keep a canonical spec canonical when they are applied', () => {
    fc.assert(
      fc.property(stored, stored, (before, after) => {
        const applied = apply(before, diff(before, after));
        expect(JSON.stringify(normalize(thing.spec, applied).spec)).toBe(
          JSON.stringify(normalize(thing.spec, after).spec),
        );
      }),
    );
  });

  test('are for a stated spec a subset of those of the full spec', () => {
    fc.assert(
      fc.property(anySpec, (spec) => {
        const paths = [...unitsOf(thing.spec, normalizeStated(thing.spec, spec).spec).keys()];
        const all = unitsOf(thing.spec, normalize(thing.spec, spec).spec);
        expect(paths.filter((path) => !all.has(path))).toEqual([]);
      }),
    );
  });

  test.each<[string, string, ReturnType<typeof resetValue>]>([
    ['a field has its default', 'on', { keep: false, value: true }],
    ['a field that documents may leave out has the value it has then', 'size', { keep: false, value: 1 }],
    ['a required field without default stays', 'name', { keep: true }],
    ['an optional field goes', 'code', { keep: false }],
    ['an element goes', 'words[a]', { keep: false }],
    ['an entry goes', 'entries[a]', { keep: false }],
    ['a member of an object has its own default', 'part.inner.depth', { keep: false, value: 3 }],
    ['an unknown unit stays', 'other', { keep: true }],
  ])('are reset or kept when nothing states them any more: %s', (_, path, value) => {
    expect(resetValue(thing.spec, path)).toEqual(value);
  });
});

describe('an object that is one unit', () => {
  const fields = {
    limits: object(
      {
        pace: object(
          { max: string({ doc: 'Max.', required: true }), hard: boolean({ doc: 'Hard.', default: true }) },
          { doc: 'Pace.', atomic: true },
        ),
      },
      { doc: 'Limits.', default: {} },
    ),
  };
  const full = { limits: { pace: { max: '9', hard: true } } };

  test('has a single unit, stated with its defaults', () => {
    const stated = normalizeStated(fields, { limits: { pace: { max: '9' } } }).spec;
    expect(stated).toEqual(full);
    expect(Object.fromEntries(unitsOf(fields, stated))).toEqual({ 'limits.pace': { max: '9', hard: true } });
  });

  test('is changed, added and removed as a whole', () => {
    const whole = { spec: full };
    const softer = { spec: { limits: { pace: { max: '9', hard: false } } } };
    const none = { spec: { limits: {} } };
    expect(diffUnits(fields, whole, softer).map(({ path }) => path)).toEqual(['limits.pace']);
    expect(applyUnits(fields, whole, diffUnits(fields, whole, none))).toEqual(none);
    expect(applyUnits(fields, none, diffUnits(fields, none, whole))).toEqual(whole);
  });

  test('is absent when nothing states it any more, even if its members are required', () => {
    expect(resetValue(fields, 'limits.pace')).toEqual({ keep: false });
  });
});
