import { access, chmod, chown, constants, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { InvalidInput } from '../model/errors.ts';

/**
 * Returns the error for a failed write to a path of the command line: `InvalidInput` when the system refused the path,
 * else the error unchanged.
 */
export function toWriteError(path: string, error: unknown): unknown {
  // All errors of the system's file functions have these members.
  const { code, path: refused } = error as NodeJS.ErrnoException;
  if (code === undefined || refused === undefined) return error;
  return new InvalidInput(`${path} cannot be written (${code}); name a file in a directory that you may write to.`, {
    cause: error,
  });
}

/**
 * Replaces the text of a file in one step, so that a reader sees either the old text or the new one. Follows symbolic
 * links, and keeps the file's mode and owner. Throws `InvalidInput` when the file no longer contains `before`.
 */
export async function replaceFile(path: string, before: string, text: string): Promise<void> {
  try {
    const target = await realpath(path);
    await access(target, constants.W_OK);
    const { mode, uid, gid } = await stat(target);
    // The name begins with a dot, so that the temporary file is not read as documents.
    const draft = join(dirname(target), `.${basename(target)}.${process.pid}`);
    try {
      await writeFile(draft, text, { flag: 'wx' });
      await chmod(draft, mode);
      if (process.getuid?.() === 0) await chown(draft, uid, gid);
      if ((await readFile(target, 'utf8')) !== before)
        throw new InvalidInput(`${path} changed while the command ran and was not overwritten; run the command again.`);
      await rename(draft, target);
    } finally {
      await rm(draft, { force: true });
    }
  } catch (error) {
    throw toWriteError(path, error);
  }
}
