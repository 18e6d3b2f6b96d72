import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** The sections of ASVS 4.0.3 that have requirements of levels 1 and 2, by chapter. */
const sections: readonly (readonly [chapter: number, ...sections: readonly number[]])[] = [
  [1, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14],
  [2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  [3, 1, 2, 3, 4, 5, 7],
  [4, 1, 2, 3],
  [5, 1, 2, 3, 4, 5],
  [6, 1, 2, 3, 4],
  [7, 1, 2, 3, 4],
  [8, 1, 2, 3],
  [9, 1, 2],
  [10, 2, 3],
  [11, 1],
  [12, 1, 2, 3, 4, 5, 6],
  [13, 1, 2, 3, 4],
  [14, 1, 2, 3, 4, 5],
];

const page = readFileSync(new URL('../../docs/asvs.md', import.meta.url), 'utf8');
const rows = page.split('\n').flatMap((line) => {
  const [, section = '', state = '', how = ''] = line.split('|').map((cell) => cell.trim());
  return /^\d/.test(section) ? [{ section, state, how }] : [];
});

it('docs/asvs.md lists every section of ASVS levels 1 and 2 in order', () => {
  const stated = rows.flatMap(({ section }) => section.match(/\b\d+\.\d+\b/g) ?? []);
  expect(stated).toEqual(sections.flatMap(([chapter, ...numbers]) => numbers.map((number) => `${chapter}.${number}`)));
});

it('docs/asvs.md names what is missing in every partly met section', () => {
  const states = ['met', 'partly', '**not met**', 'not applicable', 'deployment'];
  expect(rows.filter(({ state, how }) => !states.includes(state) || how === '')).toEqual([]);
  const partly = rows.filter(({ state }) => state === 'partly');
  expect(partly.filter(({ how }) => !/\*\*Not met:\*\*|There is no/.test(how))).toEqual([]);
  expect(rows.filter(({ state, how }) => state === 'met' && how.includes('Not met'))).toEqual([]);
});
