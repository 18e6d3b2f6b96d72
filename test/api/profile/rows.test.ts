import { expect, it } from 'vitest';
import { rows } from '../../../src/api/profile/table.ts';
import { names } from './names.ts';
import { paths } from './paths.ts';
import { requests } from './requests.ts';
import { profileScene } from './scene.ts';

const scene = profileScene();
const tests = { ...names(scene), ...paths(scene), ...requests(scene) };

// A row has one test, of its name, which is run here or missed.
it.each(rows.map(({ name }) => name))('%s', async (name) => {
  await tests[name]?.();
  expect(tests).toHaveProperty([name]);
});

it('has no test of a row that is gone, and no name twice', () => {
  const known = rows.map(({ name }) => name);
  expect(Object.keys(tests).sort()).toEqual([...new Set(known)].sort());
  expect(known).toHaveLength(new Set(known).size);
});
