import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { badSample, goodSample } from './architecture/bad-sample.ts';
import { cachesOf, isByAccount, otherwise } from './architecture/caches.ts';
import { apart, crowdedFolders, misplacedFiles, mostFiles } from './architecture/folders.ts';
import { checkNames, checkProse, findViolations, type Violation } from './architecture/rules.ts';
import { misnamedTests } from './architecture/starters.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const cases = Object.entries(badSample).flatMap(([rule, programs]) =>
  programs.map((files) => [rule, Object.entries(files).flat().join(': ').slice(0, 100), files] as const),
);

/**
 * Matches a module-level Map or Set that starts empty and lives as long as the process. Weak collections are allowed:
 * their keys are objects, and each object belongs to one account.
 */
const ofProcess = /^(?:export )?(?:const|let) \w+(?:: (?!Readonly)[^=\n]+)? = new (?:Map|Set)(?:<.*>)?\(\);/gm;

/**
 * Files that may contain retired names: the list of the retired words, and the samples in which the rules must find
 * them.
 */
const holdsTheWords = new Set(['test/architecture/glossary.ts', 'test/architecture/bad-sample.ts']);

describe('the architecture', () => {
  test('every file of src follows the import table and the rules of the pure core', () => {
    const files = programs();
    expect(files.size).toBeGreaterThan(10);
    expect(findViolations(files).map(sentence)).toEqual([]);
  });

  test('no folder of src holds more files than the limit', () => {
    expect(crowdedFolders(programs().keys())).toEqual([]);
    const crowd = Array.from({ length: mostFiles + 1 }, (_, at) => `src/lib/file-${at}.ts`);
    expect(crowdedFolders(crowd)).toEqual([`src/lib: ${mostFiles + 1}`]);
  });

  test('a short file that only one neighbour imports is part of that neighbour, unless a table gives a reason', () => {
    expect(misplacedFiles(programs())).toEqual(Object.keys(apart).sort());
    const user = "import { a } from './a.ts';\n";
    const files = { 'src/lib/a.ts': 'export const a = 1;\n', 'src/lib/b.ts': user };
    expect(misplacedFiles(new Map(Object.entries(files)))).toEqual(['src/lib/a.ts']);
    expect(misplacedFiles(new Map(Object.entries({ ...files, 'src/lib/c.ts': user })))).toEqual([]);
  });

  test('tests that start programs, and no others, are called *.system.ts', () => {
    const paths = globSync('test/**/*.ts', { cwd: root, exclude: ['**/node_modules/**'] });
    const files = paths.map((path) => [path.replaceAll('\\', '/'), readFileSync(`${root}/${path}`, 'utf8')] as const);
    expect(misnamedTests(new Map(files))).toEqual([]);
    const server = "import { serveHeddle } from './setup/heddle.ts';\n";
    const heddle = "import { launcherPath } from './bundle.ts';\n";
    const shared = { 'test/setup/heddle.ts': heddle, 'test/setup/bundle.ts': '' };
    const wrong = { 'test/a.test.ts': server, 'test/a.large.ts': server, 'test/b.system.ts': '' };
    const right = { 'test/c.system.ts': server, 'test/d.test.ts': '', 'test/d.large.ts': '' };
    expect(misnamedTests(new Map(Object.entries({ ...shared, ...wrong, ...right })))).toEqual(Object.keys(wrong));
  });

  test('names, comments, titles of tests, and pages contain no retired word', () => {
    const tests = globSync('test/**/*.ts', { cwd: root, exclude: ['**/node_modules/**'] }).map((path) =>
      path.replaceAll('\\', '/'),
    );
    const pages = ['README.md', ...globSync('docs/*.md', { cwd: root })];
    const read = (path: string) => readFileSync(`${root}/${path}`, 'utf8');
    const named = tests.filter((path) => !holdsTheWords.has(path));
    expect(named.flatMap((path) => checkNames(path, read(path))).map(sentence)).toEqual([]);
    expect(tests.flatMap((path) => checkProse(path, read(path), 'tests')).map(sentence)).toEqual([]);
    expect(pages.flatMap((path) => checkProse(path, read(path), 'page')).map(sentence)).toEqual([]);
  });

  test.each([
    ['program', "const text = 'ask whoever may';"],
    ['program', '// Told once.'],
    ['tests', "  it('is shown to whoever asks', async () => {"],
    ['tests', '// Nobody was told.'],
    ['page', 'For whoever runs it.'],
  ] as const)('a retired word in the prose of a %s is found: %s', (what, text) => {
    expect(checkProse('a', text, what)).toHaveLength(1);
  });

  test.each(['const wanted = 1;', 'if (isWanted) return;', 'tell(report);', 'interface Told {}'])(
    'a retired word in a name is found: %s',
    (text) => {
      expect(checkNames('a', text)).toHaveLength(1);
    },
  );

  test.each(["text('nobody');", 'expect(text).toMatch(/nobody wanted it/);', '// Nobody.'])(
    'a retired word in prose or in a pattern is not reported as a name: %s',
    (text) => {
      expect(checkNames('a', text)).toEqual([]);
    },
  );

  test('data of tests and names in programs are not treated as prose', () => {
    expect(checkProse('a', "const rows = ['told']; const told = rows;", 'tests')).toEqual([]);
    expect(checkProse('a', 'const told = 1;', 'program')).toEqual([]);
  });

  test('no module keeps a process-wide Map or Set, which two accounts would share', () => {
    const paths = globSync('src/**/*.ts', { cwd: root });
    const kept = paths.flatMap((path) => readFileSync(`${root}/${path}`, 'utf8').match(ofProcess) ?? []);
    expect(kept).toEqual([]);
  });

  test('a cache that outlives a request is keyed by account, or a table gives the reason why not', () => {
    const paths = globSync('src/**/*.ts', { cwd: root }).map((path) => path.replaceAll('\\', '/'));
    const caches = paths.flatMap((path) => cachesOf(path, readFileSync(`${root}/${path}`, 'utf8')));
    const others = caches.filter((cache) => !isByAccount(cache)).map(({ path, name }) => `${path} ${name}`);
    expect([...new Set(others)].sort()).toEqual(Object.keys(otherwise).sort());
    expect(caches.length - others.length).toBeGreaterThan(10);
  });

  test('a cache that is not keyed by account is found', () => {
    const body =
      'export function createNames() {\n  const known = new Map<string, Name>();\n  return (id) => known.get(id);\n}\n';
    const [cache] = cachesOf('src/commit/names.ts', body);
    expect(cache).toEqual({ path: 'src/commit/names.ts', name: 'known', keys: ['id'] });
    expect(cache !== undefined && isByAccount(cache)).toBe(false);
    const [right] = cachesOf('src/commit/names.ts', body.replace('get(id)', 'get(call.account)'));
    expect(right !== undefined && isByAccount(right)).toBe(true);
  });

  test.each(cases)('%s: %s', (rule, _, files) => {
    const violations = findViolations(new Map(Object.entries(files)));
    expect(violations.map((violation) => violation.rule)).toEqual([rule]);
    expect(Object.keys(files).some((path) => path.startsWith(violations[0]?.path ?? '?'))).toBe(true);
  });

  test('the bad samples together violate every rule', () => {
    const all = Object.values(badSample)
      .flat()
      .flatMap((files) => findViolations(new Map(Object.entries(files))));
    expect(new Set(all.map((violation) => violation.rule))).toEqual(new Set(Object.keys(badSample)));
  });

  test('a violation is reported with its line', () => {
    const files = new Map([
      ['src/plan/diff.ts', "/* two\nlines */\nimport { a } from '../lib/a.ts';\n\nDate.now();\n"],
    ]);
    expect(findViolations(files).map(sentence)).toEqual([
      'src/plan/diff.ts:5 impure: Date.now(: a pure module takes it as an argument',
    ]);
  });

  test('a program that follows the rules is accepted', () => {
    expect(findViolations(new Map(Object.entries(goodSample))).map(sentence)).toEqual([]);
  });
});

/** Returns the text of each program of `src`, by path. */
function programs(): ReadonlyMap<string, string> {
  const paths = globSync('src/**/*.ts', { cwd: root }).map((path) => path.replaceAll('\\', '/'));
  return new Map(paths.sort().map((path) => [path, readFileSync(`${root}/${path}`, 'utf8')]));
}

function sentence(violation: Violation): string {
  return `${violation.path}:${violation.line} ${violation.rule}: ${violation.message}`;
}
