import { access, chmod, chown, constants, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { InvalidInput } from '../model/errors.ts';

/** The error of writing to a path that a command line names: wrong input where the system refused the path. */
export function writeError(path: string, error: unknown): unknown {
  // The system says so on each of its errors.
  const { code, path: refused } = error as NodeJS.ErrnoException;
  if (code === undefined || refused === undefined) return error;
  return new InvalidInput(`${path} cannot be written (${code}); name a file in a directory that you may write to.`, {
    cause: error,
  });
}

/**
 * Puts a text in the place of the one that was read, in one step: a reader sees the old text or the new one. Links lead to
 * the file that is replaced, and its mode and owner stay.
 */
export async function replaceFile(path: string, before: string, text: string): Promise<void> {
  try {
    const target = await realpath(path);
    await access(target, constants.W_OK);
    const { mode, uid, gid } = await stat(target);
    // Begins with a dot, so that nothing reads it as documents meanwhile.
    const draft = join(dirname(target), `.${basename(target)}.${process.pid}`);
    try {
      await writeFile(draft, text, { flag: 'wx' });
      await chmod(draft, mode);
      if (process.getuid?.() === 0) await chown(draft, uid, gid);
      if ((await readFile(target, 'utf8')) !== before)
        throw new InvalidInput(`${path} changed meanwhile and stays as it is; run the command again.`);
      await rename(draft, target);
    } finally {
      await rm(draft, { force: true });
    }
  } catch (error) {
    throw writeError(path, error);
  }
}
