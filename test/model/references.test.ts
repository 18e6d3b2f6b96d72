import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { list, object, oneOf, refByType } from '../../src/model/schema/field.ts';
import { normalize } from '../../src/model/schema/normalize.ts';
import { mapReferences, mentionsOf } from '../../src/model/schema/references.ts';
import { anySpec, thing } from './sample-kinds.ts';

const reported = (spec: JsonObject) =>
  mentionsOf(thing.spec, spec).map(({ kind, text, pointer, field }) => `${kind} ${text} ${pointer} ${field}`);
const shout = (spec: JsonObject) => mapReferences(thing.spec, spec, ({ text }) => text.toUpperCase());
const drop = (spec: JsonObject) => mapReferences(thing.spec, spec, () => undefined);

describe('references', () => {
  test.each<[string, JsonObject, readonly string[], JsonObject, JsonObject]>([
    ['one', { owner: 'ann' }, ['Person ann /owner owner'], { owner: 'ANN' }, {}],
    ['an empty one', { owner: '' }, [], { owner: '' }, { owner: '' }],
    [
      'a set',
      { friends: ['ann', 'bob'] },
      ['Person ann /friends/0 friends', 'Person bob /friends/1 friends'],
      { friends: ['ANN', 'BOB'] },
      { friends: [] },
    ],
    ['members as stated', { crew: ['ann'] }, ['Person ann /crew/0 crew'], { crew: ['ANN'] }, { crew: [] }],
    [
      'members as kept',
      { crew: { ann: ['api'] } },
      ['Person ann /crew/ann crew'],
      { crew: { ANN: ['api'] } },
      { crew: {} },
    ],
    [
      'a typed one',
      { target: { id: 'ann', type: 'person' } },
      ['Person ann /target/id target'],
      { target: { id: 'ANN', type: 'person' } },
      {},
    ],
    [
      'a typed one of an unknown type',
      { target: { id: 'ann', type: 'ghost' } },
      [],
      { target: { id: 'ann', type: 'ghost' } },
      { target: { id: 'ann', type: 'ghost' } },
    ],
    [
      'names of a map',
      { rights: { ann: ['r'] } },
      ['Person ann /rights/ann rights'],
      { rights: { ANN: ['r'] } },
      { rights: {} },
    ],
    [
      'inside entries',
      { entries: [{ name: 'a', helpers: ['bob'] }] },
      ['Person bob /entries/0/helpers/0 entries.helpers'],
      { entries: [{ name: 'a', helpers: ['BOB'] }] },
      { entries: [{ name: 'a', helpers: [] }] },
    ],
    [
      'none',
      { name: 'ann', other: 'x', words: ['w'] },
      [],
      { name: 'ann', other: 'x', words: ['w'] },
      { name: 'ann', other: 'x', words: ['w'] },
    ],
  ])('are found, renamed and dropped: %s', (_, spec, mentions, renamed, dropped) => {
    expect(reported(spec)).toEqual(mentions);
    expect(shout(spec)).toEqual(renamed);
    expect(drop(spec)).toEqual(dropped);
  });

  test('are unchanged when renamed to the same name, and restored when renamed back', () => {
    fc.assert(
      fc.property(anySpec, (raw) => {
        const { spec } = normalize(thing.spec, raw);
        expect(mapReferences(thing.spec, spec, ({ text }) => text)).toEqual(spec);
        expect(mapReferences(thing.spec, shout(spec), ({ text }) => text.toLowerCase())).toEqual(spec);
        expect(mentionsOf(thing.spec, shout(spec)).map(({ text }) => text.toLowerCase())).toEqual(
          mentionsOf(thing.spec, spec).map(({ text }) => text),
        );
        expect(mentionsOf(thing.spec, drop(spec))).toEqual([]);
      }),
    );
  });

  test('have pointers that escape special characters in names', () => {
    expect(reported({ rights: { 'a/b': [] } })).toEqual(['Person a/b /rights/a~1b rights']);
  });

  test('are skipped without an error where validation refuses the shape of a value', () => {
    const wrong = { owner: 1, friends: 'ann', crew: 3, target: 'x', rights: [1], entries: [4, 'x'], part: 2 };
    expect(reported(wrong)).toEqual([]);
    expect(shout(wrong)).toEqual(wrong);
  });

  test('refer to the kind that their type field names, and are plain text where it names none', () => {
    const to = {
      to: refByType('of', { person: 'Person' }, { doc: 'To.' }),
      of: oneOf(['person', 'place'], { doc: 'Of.' }),
    };
    const fields = { steps: list(object(to, { doc: 'Step.' }), { doc: 'Steps.' }) };
    const spec = { steps: [{ to: 'ann', of: 'person' }, { to: 'rome', of: 'place' }, { to: 'bob' }] };
    expect(mentionsOf(fields, spec)).toEqual([
      { kind: 'Person', text: 'ann', pointer: '/steps/0/to', field: 'steps.to', single: true },
    ]);
    expect(mapReferences(fields, spec, ({ text }) => text.toUpperCase())).toEqual({
      steps: [{ to: 'ANN', of: 'person' }, { to: 'rome', of: 'place' }, { to: 'bob' }],
    });
  });
});
