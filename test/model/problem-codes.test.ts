import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { problemCodes } from '../../src/model/problem-codes.ts';

const root = new URL('../..', import.meta.url).pathname;
const sources = globSync('src/**/*.ts', { cwd: root, exclude: ['src/model/problem-codes.ts'] })
  .map((path) => readFileSync(`${root}${path}`, 'utf8'))
  .join('\n');

/**
 * Codes that the program builds from parts, such as the name of a rejected format or the reason of a drift, with the
 * texts that show that the part is used.
 */
const parts: readonly (readonly [RegExp, (rest: string) => readonly string[]])[] = [
  [/^(\w+)_invalid$/, (name) => [`name: '${name}'`, `Format('${name}'`]],
  [/^drift_(\w+)$/, (why) => [`'${why}'`]],
  [/^policy_(\w+)_exclusive$/, (side) => [`'${side}'`]],
  [/^(\w+)_refused$/, (action) => [`'${action}'`]],
];

function isUsed(code: string): boolean {
  if (sources.includes(`'${code}'`)) return true;
  return parts.some(([pattern, textsOf]) => {
    const rest = pattern.exec(code)?.[1];
    return rest !== undefined && textsOf(rest).some((text) => sources.includes(text));
  });
}

it('the list of problem codes contains no code that is never reported', () => {
  expect(Object.keys(problemCodes).filter((code) => !isUsed(code))).toEqual([]);
});

it('the list of problem codes is sorted, and every meaning is a sentence', () => {
  const codes = Object.keys(problemCodes);
  expect(codes).toEqual(codes.toSorted());
  for (const meaning of Object.values(problemCodes)) expect(meaning).toMatch(/^[A-Z].*\.$/);
});
