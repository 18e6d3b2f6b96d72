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
])('%s probably meant %s', (word, meant) => {
  expect(nearest(word, fields)).toBe(meant);
});

test.each(['', 'x', 'color', 'metadata', 'na', 'a'.repeat(100_000)])('nothing comes close to "%.20s"', (word) => {
  expect(nearest(word, fields)).toBeUndefined();
});

test('one letter does not mean another one', () => {
  expect(nearest('A', ['B', 'AB'])).toBe('AB');
  expect(nearest('A', ['B'])).toBeUndefined();
});

test('several candidates come closest first, then by name, each once', () => {
  expect(nearestAll('prod-east', ['prod-west', 'prod-est', 'dev-east', 'prod-eest', 'prod-est', 'zzz'], 3)).toEqual([
    'prod-eest',
    'prod-est',
    'prod-west',
  ]);
});

test('the order of the candidates does not matter', () => {
  const candidates = ['bat', 'rat', 'hat', 'mat'];
  expect(nearestAll('cat', candidates, 4)).toEqual(nearestAll('cat', candidates.toReversed(), 4));
});

test('a text of a megabyte is near to nothing, and that is found at once', () => {
  const long = 'group-'.repeat(200_000);
  expect(nearest(long, [`${long}a`, 'group-1'])).toBeUndefined();
  expect(nearest('group-2', [`${long}a`, 'group-1'])).toBe('group-1');
});
