import { access, chmod, chown, constants, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../lib/error-code.ts';
import { isObject } from '../lib/json.ts';
import { InvalidInput } from '../model/errors.ts';

const permission = 'choose a place that you may write to, or change its permissions';
const space = 'free space on its disk, or choose a place on another disk';

/** Reasons for which the system refuses to write a file, and what to do, by the code of the error. */
const refusals: Readonly<Record<string, readonly [reason: string, advice: string]>> = {
  EACCES: ['permission denied', permission],
  EPERM: ['the operation is not permitted', permission],
  EROFS: ['the file system is read-only', 'choose a place on another file system'],
  ENOENT: ['its directory does not exist', 'create the directory, or correct the path'],
  ENOTDIR: ['a part of the path is not a directory', 'correct the path'],
  EEXIST: ['a part of the path is not a directory', 'correct the path'],
  EISDIR: ['it is a directory', 'name a file'],
  ENOSPC: ['the disk is full', space],
  EDQUOT: ['the quota of the disk is used up', space],
};

/**
 * Returns a sentence about a failed write to a path of the command line: that it failed, why, and what to do. Returns
 * `undefined` for an error that is not the system's refusal to write the path.
 */
export function describeWriteError(path: string, error: unknown): string | undefined {
  const code = codeOf(error);
  if (code === undefined) return undefined;
  // Errors of the system's file functions name the path, except those of writes to an open file.
  const isOfPath = isObject(error) && error['path'] !== undefined;
  const [reason, advice] = refusals[code] ?? ['the system refused it', 'choose another place'];
  return isOfPath || Object.hasOwn(refusals, code)
    ? `${path} cannot be written: ${reason} (${code}); ${advice}.`
    : undefined;
}

/**
 * Returns the error for a failed write to a path of the command line: `InvalidInput` when the system refused it, else
 * the error unchanged. `introduction` is a sentence that precedes the reason.
 */
export function toWriteError(path: string, error: unknown, introduction?: string): unknown {
  const sentence = describeWriteError(path, error);
  if (sentence === undefined) return error;
  return new InvalidInput(introduction === undefined ? sentence : `${introduction} ${sentence}`, { cause: error });
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
