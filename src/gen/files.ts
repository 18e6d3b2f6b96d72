import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Texts by path below the root of the project. */
export type Files = ReadonlyMap<string, string>;

/** The first line of every generated file. */
export const generatedNotice = 'Written by `npm run gen` from src/kinds; do not edit.';

/** Folders that hold generated files and nothing else. */
const folders = ['crds', 'examples/kinds', 'charts/heddle-crds/files', 'docs/reference'];

/** Paths that are not as they should be: missing, different, or left over from a declaration that is gone. */
export function findStale(root: string, files: Files): readonly string[] {
  const different = [...files].filter(([path, text]) => readText(root, path) !== text).map(([path]) => path);
  return [...different, ...leftOver(root, files)].sort();
}

/** Brings the files below the root up to date and says which ones had to change. */
export function writeFiles(root: string, files: Files): readonly string[] {
  const stale = findStale(root, files);
  for (const path of stale) {
    const text = files.get(path);
    if (text === undefined) rmSync(join(root, path));
    else writeText(root, path, text);
  }
  return stale;
}

/** The text of a file, `undefined` when there is none. */
export function readText(root: string, path: string): string | undefined {
  const [found] = globSync(path, { cwd: root });
  return found === undefined ? undefined : readFileSync(join(root, path), 'utf8');
}

function writeText(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function leftOver(root: string, files: Files): readonly string[] {
  const present = folders.flatMap((folder) => globSync(`${folder}/*.{yaml,md}`, { cwd: root }));
  return present.map((path) => path.replaceAll('\\', '/')).filter((path) => !files.has(path));
}
