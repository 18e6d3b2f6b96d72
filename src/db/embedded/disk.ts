import { type FileHandle, mkdir, open, rm, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../../lib/error-code.ts';
import { Unavailable } from '../../model/errors.ts';

const mebibyte = 1024 * 1024;

/**
 * Returns the free space below a path, in MiB: 0 when no inodes are free, infinity when the file system does not report
 * its size.
 */
export async function freeMebibytes(path: string): Promise<number> {
  const { blocks, bavail, bsize, files, ffree } = await statfs(path);
  if (files > 0 && ffree === 0) return 0;
  return blocks === 0 ? Number.POSITIVE_INFINITY : Math.floor((bavail * bsize) / mebibyte);
}

/**
 * Creates a file that only its owner may access, completely or not at all: a start on a full disk must not leave an
 * empty key behind. Returns false when the file exists already.
 */
export async function createFile(path: string, text: string): Promise<boolean> {
  let file: FileHandle;
  try {
    file = await open(path, 'wx', 0o600);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    await file.writeFile(text);
    await file.sync();
    return true;
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/**
 * Creates a directory, and those above it that are missing. Where a file system has no such directory and lets none be
 * created, as `/proc`, it throws; `mkdir` with `recursive` tries that without end.
 */
export async function createDirectory(path: string, mode?: number): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    if (await isDirectory(path)) return;
    if (codeOf(error) !== 'ENOENT' || (await isDirectory(dirname(path)))) throw error;
    await createDirectory(dirname(path), mode);
    await createDirectory(path, mode);
  }
}

function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (status) => status.isDirectory(),
    () => false,
  );
}

/** Creates a data directory when it is missing. Only its owner may access it. */
export async function createDataDirectory(directory: string): Promise<void> {
  try {
    await createDirectory(directory, 0o700);
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') throw cause;
    throw new Unavailable(
      `The data directory ${directory} cannot be created, because its file system has no directories of users; choose another one with --data-dir.`,
      { cause },
    );
  }
}

const diskFullReason = 'is on a disk that is full; make room and start again';
const notWritableReason =
  'is not writable; make it writable for the user who runs Heddle, or choose another one with --data-dir';
const notDirectoryReason = 'is not a directory; choose another one with --data-dir';

const reasons: Readonly<Record<string, string>> = {
  ...{ ENOSPC: diskFullReason, EDQUOT: diskFullReason },
  ...{ EACCES: notWritableReason, EPERM: notWritableReason, EROFS: notWritableReason },
  ...{ EEXIST: notDirectoryReason, ENOTDIR: notDirectoryReason },
};

/**
 * Runs `work` in a data directory. When the file system refuses it, throws `Unavailable` with a message that explains
 * how to fix that.
 */
export async function inDataDirectory<Value>(directory: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (cause) {
    const reason = reasons[codeOf(cause) ?? ''];
    if (reason === undefined) throw cause;
    throw new Unavailable(`The data directory ${directory} ${reason}.`, { cause });
  }
}

/** Returns whether an error means that the disk is full. */
export function isDiskFullError(error: unknown): boolean {
  return reasons[codeOf(error) ?? ''] === diskFullReason;
}
