import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Creates the folder that a build writes to, or empties it. Also sets the umask so that everybody may read the files,
 * because the user in an image is not the user who built it. Ends the process when the folder contains something other
 * than an earlier build, which is recognized by its file `mark`: `--out` may name a home directory by mistake.
 */
export function prepareOutputFolder(folder: string, mark: string): void {
  process.umask(0o022);
  const isOurs = dirname(folder) === dirname(join(root, 'dist')) && basename(folder).startsWith('dist');
  if (!isOurs && existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(join(folder, mark)))
    exitWithError(`${folder} contains other files than those of a build: name an empty or missing folder with --out.`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}

/** Prints a sentence about how to build, and ends the process with exit code 1. */
export function exitWithError(sentence: string): never {
  console.error(sentence);
  process.exit(1);
}
