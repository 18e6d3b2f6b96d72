import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { rows } from '../../../src/api/profile/table.ts';
import { names } from './names.ts';
import { paths } from './paths.ts';
import { reads } from './reads.ts';
import { requests } from './requests.ts';
import { profileScene } from './scene.ts';

const scene = profileScene();
const files = {
  'names.ts': names(scene),
  'paths.ts': paths(scene),
  'requests.ts': requests(scene),
  'reads.ts': reads(scene),
};
const tests = Object.assign({}, ...Object.values(files));

// Every row has one test of the same name. A row without a test fails.
it.each(rows.map(({ name }) => name))('%s', async (name) => {
  await tests[name]?.();
  expect(tests).toHaveProperty([name]);
});

it('every row of the profile table has exactly one test, and every test a row', () => {
  const known = rows.map(({ name }) => name);
  expect(Object.values(files).flatMap(Object.keys).sort()).toEqual([...new Set(known)].sort());
  expect(known).toHaveLength(new Set(known).size);
});

it('the reference page names the test file of every row', async () => {
  const page = await readFile(new URL('../../../docs/reference/client-profile.md', import.meta.url), 'utf8');
  const lines = page.split('\n').filter((line) => line.endsWith('.ts` |'));
  const named = lines.map((line) => line.split(' | '));
  expect(named.map((cells) => [cells[0]?.slice(2), cells.at(-1)?.slice(1, -3)]).sort()).toEqual(
    Object.entries(files)
      .flatMap(([file, own]) => Object.keys(own).map((name) => [name, file]))
      .sort(),
  );
});
