import { findImports } from './imports.ts';

/**
 * Files of tests by which a program is started: this one, a Postgres of its own, helm, a browser, a shell, a Git host,
 * the compiler.
 */
const starters = new Set([
  'test/setup/bundle.ts',
  'test/setup/server.ts',
  'test/charts/helm.ts',
  'test/charts/kubernetes-types.ts',
  'test/auth/browser.ts',
  'test/docs/shell.ts',
  'test/sources/git-host.ts',
  'test/types/casts.ts',
  'test/types/renaming.ts',
]);

/**
 * The files of tests that stand under the wrong ending: `*.system.ts` is for tests that start programs, `*.test.ts`
 * and `*.large.ts` for all others. What the program itself starts, such as git, does not count.
 */
export function misnamedTests(files: ReadonlyMap<string, string>): readonly string[] {
  return [...files.keys()].filter((path) => {
    if (/\.(?:test|large)\.ts$/.test(path)) return startsItself(files.get(path) ?? '') || reaches(path, files);
    return path.endsWith('.system.ts') && !(/'node:child_process'/.test(files.get(path) ?? '') || reaches(path, files));
  });
}

function startsItself(text: string): boolean {
  return /^import .*'node:child_process'/m.test(text) && /\(process\.execPath\b/.test(text);
}

function reaches(from: string, files: ReadonlyMap<string, string>): boolean {
  const seen = new Set([from]);
  for (const path of seen) {
    if (starters.has(path)) return true;
    for (const { target, typeOnly } of findImports(path, files.get(path) ?? ''))
      if (!typeOnly && files.has(target)) seen.add(target);
  }
  return false;
}
