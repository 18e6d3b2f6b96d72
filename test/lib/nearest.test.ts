import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nearest, nearestAll } from '../../src/lib/nearest.ts';

const fields = ['name', 'description', 'enabled', 'sources', 'destinations', 'ports', 'port_ranges', 'bidirectional'];

test.each([
  ['nmae', 'name'],
  ['Name', 'name'],
  ['source', 'sources'],
  ['destination', 'destinations'],
  ['desc', 'description'],
  ['port', 'ports'],
  ['portRanges', 'port_ranges'],
  ['bidirectionnal', 'bidirectional'],
])('the nearest name to %s is %s', (word, meant) => {
  expect(nearest(word, fields)).toBe(meant);
});

test.each(['', 'x', 'color', 'metadata', 'na', 'a'.repeat(100_000)])('no name is near to "%.20s"', (word) => {
  expect(nearest(word, fields)).toBeUndefined();
});

test('a single letter is not near to another letter', () => {
  expect(nearest('A', ['B', 'AB'])).toBe('AB');
  expect(nearest('A', ['B'])).toBeUndefined();
});

test('several candidates are sorted by distance, then by name, without duplicates', () => {
  expect(nearestAll('prod-east', ['prod-west', 'prod-est', 'dev-east', 'prod-eest', 'prod-est', 'zzz'], 3)).toEqual([
    'prod-eest',
    'prod-est',
    'prod-west',
  ]);
});

test('the result does not depend on the order of the candidates', () => {
  const candidates = ['bat', 'rat', 'hat', 'mat'];
  expect(nearestAll('cat', candidates, 4)).toEqual(nearestAll('cat', candidates.toReversed(), 4));
});

test('a text of a megabyte has no near candidate and is near to no text', () => {
  const long = 'group-'.repeat(200_000);
  expect(nearest(long, [`${long}a`, 'group-1'])).toBeUndefined();
  expect(nearest('group-2', [`${long}a`, 'group-1'])).toBe('group-1');
});

/** Computes the edit distance by its definition, with the whole table. */
function distance(a: string, b: string): number {
  const table = [...`${a} `].map((_, row) =>
    [...`${b} `].map((_, column) => (row === 0 ? column : column === 0 ? row : 0)),
  );
  const at = (row: number, column: number) => table[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= a.length; row++) {
    for (let column = 1; column <= b.length; column++) {
      const change = at(row - 1, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const isSwapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swap = isSwapped ? at(row - 2, column - 2) + 1 : change;
      const cells = table[row];
      if (cells !== undefined) cells[column] = Math.min(change, at(row - 1, column) + 1, at(row, column - 1) + 1, swap);
    }
  }
  return at(a.length, b.length);
}

test('a candidate is near when few edits lead to it, or when it begins with the word', () => {
  const words = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '-'), maxLength: 14 });
  fc.assert(
    fc.property(words, words, (word, candidate) => {
      // The word itself is not a suggestion.
      fc.pre(word !== candidate);
      const longest = Math.max(word.length, candidate.length);
      const edits = distance(word, candidate);
      const isNear = edits <= Math.min(4, Math.max(1, Math.floor(longest / 3))) && edits < longest;
      const isAbbreviation = word.length >= 3 && candidate.startsWith(word);
      expect(nearest(word, [candidate]) !== undefined).toBe(isNear || isAbbreviation);
    }),
    { numRuns: 2000 },
  );
});
