import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Texts of files, by path relative to the root of the project. */
export type Files = ReadonlyMap<string, string>;

/** Notice at the top of generated files. */
export const generatedNotice = 'Written by `npm run gen` from src/kinds; do not edit.';

/** Folders that contain only generated files. */
const generatedFolders = ['crds', 'examples/kinds', 'charts/heddle-crds/files', 'docs/reference'];

/** Returns the paths of files that are missing, different, or left over from a deleted declaration. */
export function findStale(root: string, files: Files): readonly string[] {
  const different = [...files].filter(([path, text]) => readText(root, path) !== text).map(([path]) => path);
  return [...different, ...findLeftovers(root, files)].sort();
}

/** Writes the files that are out of date, and deletes those that are left over. Returns the paths that changed. */
export function writeFiles(root: string, files: Files): readonly string[] {
  const stale = findStale(root, files);
  for (const path of stale) {
    const text = files.get(path);
    if (text === undefined) rmSync(join(root, path));
    else writeText(root, path, text);
  }
  return stale;
}

/** Returns the text of a file; `undefined` when it does not exist. */
export function readText(root: string, path: string): string | undefined {
  const [found] = globSync(path, { cwd: root });
  return found === undefined ? undefined : readFileSync(join(root, path), 'utf8');
}

function writeText(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function findLeftovers(root: string, files: Files): readonly string[] {
  const present = generatedFolders.flatMap((folder) => globSync(`${folder}/*.{yaml,md}`, { cwd: root }));
  return present.map((path) => path.replaceAll('\\', '/')).filter((path) => !files.has(path));
}
