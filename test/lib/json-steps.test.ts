import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sha256, sha256InSteps } from '../../src/lib/node-pure.ts';
import { jsonInSteps, runToEnd, splitText } from '../../src/lib/steps.ts';
import { serialiseInSteps, text, within } from './json-texts.ts';

const membersOf = (count: number, isAbsent = (_at: number) => false) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, isAbsent(at) ? undefined : at]));

it('JSON made in steps equals the result of JSON.stringify, for a few values', () => {
  serialiseInSteps(20);
});

it.each<[string, unknown]>([
  ['absent members and items', { a: undefined, b: [undefined, () => 1, null], c: { d: undefined } }],
  ['dates, at any depth', { at: new Date(0), in: [{ at: new Date(1) }] }],
  ['a long list', { items: Array.from({ length: 1000 }, (_, at) => ({ at, of: { more: [at] } })) }],
  ['halves of characters', ['\ud800', '\udc00x', '\u2028"\\\n']],
  ['names that look like numbers', { 2: 'b', 1: 'a', __proto__: null }],
  ['a long text with pairs of surrogates where it is split', `xxx${'\u{1f600}'.repeat(200_000)}`],
  [
    'a long text with half a pair before a pair where it is split',
    ['x'.repeat(262_143), '\ud83d', '\u{1f600}', 'x'].join(''),
  ],
  ['a long text with escapes', '"\n\u0001'.repeat(200_000)],
  ...[31, 32, 33, 64].map((count): [string, unknown] => [`an object of ${count} members`, membersOf(count)]),
  ['an object whose first members are absent', membersOf(70, (at) => at < 31)],
  ['an object whose middle members are absent', membersOf(70, (at) => at >= 31 && at < 63)],
  ['an object whose members are all absent', membersOf(70, () => true)],
  ['a list of 32 items', Array.from({ length: 32 }, (_, at) => at)],
  ['lists in lists in lists', [[[[[[[1]]]]]]]],
])('JSON made in steps equals JSON.stringify for %s', (_, value) => {
  expect(text(value)).toBe(JSON.stringify(value));
  expect(text(within(value))).toBe(JSON.stringify(within(value)));
});

it.each([
  ['few parts', Array.from({ length: 20 }, (_, at) => ({ at })), 1],
  ['many parts', Array.from({ length: 5000 }, (_, at) => ({ at })), 100],
  ['a long text', { text: 'x'.repeat(5_000_000) }, 19],
])('JSON of %s is made in at least the expected number of steps', (_, value, least) => {
  expect([...jsonInSteps(value)].length + 1).toBeGreaterThanOrEqual(least);
});

it('the hash of a text in parts equals the hash of the text, wherever it is split', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.integer({ min: 1, max: 5 }), (value, most) => {
      expect([...splitText(value, most)].join('')).toBe(value);
      expect(runToEnd(sha256InSteps(splitText(value, most)))).toBe(sha256(value));
      const long = value.repeat(1000);
      expect(runToEnd(sha256InSteps(splitText(long, 1000 * most)))).toBe(sha256(long));
    }),
  );
});
