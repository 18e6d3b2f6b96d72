import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Makes the folder that a build writes to, or empties it; what is written from then on may be read by everybody, because the
 * user of an image is another one than who built it. Ends the process when something else is in the folder than what an
 * earlier build left, which `mark` is a file of: a home directory is given by mistake more easily than it is restored.
 */
export function emptyOut(folder: string, mark: string): void {
  process.umask(0o022);
  const isOurs = dirname(folder) === dirname(join(root, 'dist')) && basename(folder).startsWith('dist');
  if (!isOurs && existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(join(folder, mark)))
    refuse(
      `${folder} holds other files than those of a build: name an empty folder by --out, or one that is not there.`,
    );
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}

/** Ends the process with a sentence on how to build. */
export function refuse(sentence: string): never {
  console.error(sentence);
  process.exit(1);
}
