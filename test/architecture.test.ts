import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { badSample, goodSample } from './architecture/bad-sample.ts';
import { findViolations, type Violation } from './architecture/rules.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const cases = Object.entries(badSample).flatMap(([rule, programs]) =>
  programs.map((files) => [rule, Object.entries(files).flat().join(': ').slice(0, 100), files] as const),
);

/** A collection that begins empty and lives as long as the process; weak ones know objects, and objects are of one account. */
const ofProcess = /^(?:export )?(?:const|let) \w+(?:: (?!Readonly)[^=\n]+)? = new (?:Map|Set)(?:<.*>)?\(\);/gm;

describe('the architecture', () => {
  test('every file of src keeps the import table and the rules of the pure core', () => {
    const paths = globSync('src/**/*.ts', { cwd: root }).map((path) => path.replaceAll('\\', '/'));
    const files = new Map(paths.sort().map((path) => [path, readFileSync(`${root}/${path}`, 'utf8')]));
    expect(files.size).toBeGreaterThan(10);
    expect(findViolations(files).map(sentence)).toEqual([]);
  });

  test('what a module remembers hangs on an object of one account, never on a name that two accounts may have', () => {
    const paths = globSync('src/**/*.ts', { cwd: root });
    const kept = paths.flatMap((path) => readFileSync(`${root}/${path}`, 'utf8').match(ofProcess) ?? []);
    expect(kept).toEqual([]);
  });

  test.each(cases)('%s: %s', (rule, _, files) => {
    const violations = findViolations(new Map(Object.entries(files)));
    expect(violations.map((violation) => violation.rule)).toEqual([rule]);
    expect(Object.keys(files).some((path) => path.startsWith(violations[0]?.path ?? '?'))).toBe(true);
  });

  test('all bad programs together show every rule', () => {
    const all = Object.values(badSample)
      .flat()
      .flatMap((files) => findViolations(new Map(Object.entries(files))));
    expect(new Set(all.map((violation) => violation.rule))).toEqual(new Set(Object.keys(badSample)));
  });

  test('a fault is told with its line', () => {
    const files = new Map([
      ['src/plan/diff.ts', "/* two\nlines */\nimport { a } from '../lib/a.ts';\n\nDate.now();\n"],
    ]);
    expect(findViolations(files).map(sentence)).toEqual([
      'src/plan/diff.ts:5 impure: Date.now(: a pure module takes it as an argument',
    ]);
  });

  test('a program that keeps the rules is accepted', () => {
    expect(findViolations(new Map(Object.entries(goodSample))).map(sentence)).toEqual([]);
  });
});

function sentence(violation: Violation): string {
  return `${violation.path}:${violation.line} ${violation.rule}: ${violation.message}`;
}
