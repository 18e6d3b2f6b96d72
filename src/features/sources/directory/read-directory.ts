import { lstat, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { SourceGlobs } from '../../../documents/directory-settings.ts';
import { describeBytes, limits } from '../../../documents/limits.ts';
import { isDirectorySettings } from '../../../documents/settings-file.ts';
import { codeOf } from '../../../lib/error-code.ts';
import type { SourceFile } from '../../../model/document.ts';
import { mapInBatches } from '../files/batches.ts';
import { changedBetween, type ListedFile, listFile, listFiles } from '../files/list-files.ts';
import { readText } from '../files/read-text.ts';
import { digestOfContent, everyFile, type FileSelection, type RelativeFile } from '../files/selection.ts';
import { type DirectorySnapshot, type FileStats, Unreadable } from '../files/snapshot.ts';
import type { FileCache } from './file-memory.ts';
import { frozenFileWarnings } from './mounts.ts';

/** Link through which a ConfigMap mount or a Secret mount changes all of its files at once. */
export const mountLink = '..data';

/** Options for reading a directory. Some of them exist only for tests. */
export interface ReadOptions {
  /**
   * Globs in the settings of the source that decide which files are read, in addition to the rules in the directory.
   */
  readonly globs?: SourceGlobs;
  /** Path of a mount table in the format of `/proc/self/mountinfo`. */
  readonly mountTable?: string;
  /** Called between listing the files and reading them. */
  readonly onListed?: () => Promise<void>;
  /**
   * Called with each file that cannot be read, which is then left out. Absent: the first such file ends the reading.
   */
  readonly onUnreadable?: (file: string, reason: string) => void;
  /** Cache of files from earlier readings. */
  readonly cache?: FileCache;
  /** Files that are treated as missing, by their paths below the directory. */
  readonly without?: ReadonlySet<string>;
}

const maxAttempts = 10;

type Readable = Extract<DirectorySnapshot, { readonly ok: true }>;
type Failure = Extract<DirectorySnapshot, { readonly ok: false }>;

/** Content of a directory without its digest. `files` are the same as those with relative paths in `content`. */
type DirectoryFiles = Omit<Readable, 'digest'> & { readonly content: readonly RelativeFile[] };

/** Reads all document files of a directory, or the one file at the path, as they are at one moment. */
export async function readDirectory(path: string, options: ReadOptions = {}): Promise<DirectorySnapshot> {
  const read = await readDirectoryFiles(path, options);
  if (!read.ok) return read;
  const { content, ...snapshot } = read;
  return { ...snapshot, digest: digestOfContent(content, snapshot.selection) };
}

/** Same as `readDirectory`, for callers that need no digest. */
export async function readDirectoryFiles(path: string, options: ReadOptions = {}): Promise<DirectoryFiles | Failure> {
  let changing: readonly string[] = [];
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    try {
      const read = await readOnce(path, options);
      if ('ok' in read) return read;
      changing = read.changing;
    } catch (error) {
      const retry = isGone(error) && attempt < maxAttempts && (await exists(path));
      if (!retry) return { ok: false, reason: reasonOf(error, path) };
    }
  }
  return { ok: false, reason: `"${path}" changed each time while it was read; it will be tried again.`, changing };
}

/**
 * Number of files that are read at once: few enough that the largest files together do not exceed the size limit of a
 * revision.
 */
const readBatchSize = 16;

/** Result of a reading during which files changed. */
interface ChangedDuringRead {
  readonly changing: readonly string[];
}

async function readOnce(path: string, options: ReadOptions): Promise<DirectoryFiles | ChangedDuringRead> {
  const status = await stat(path);
  if (!status.isDirectory()) return readSingle(path, options);
  const link = join(path, mountLink);
  if (!(await isLink(link))) {
    const snapshot = await readTree(path, path, options);
    const changing = changedBetween(snapshot.looks, await listAgain(path, snapshot, options));
    return changing.length === 0 ? snapshot : { changing };
  }
  // Reading through the link mixes files of two generations (169 of 17,300 readings did). Reading below its target
  // never does.
  const target = await realpath(link);
  const snapshot = await readTree(target, path, options);
  return (await realpath(link)) === target ? { ...snapshot, isMount: true } : { changing: [] };
}

/** Lists the files again, without those that could not be read. */
async function listAgain(path: string, { looks }: DirectoryFiles, { onUnreadable, globs = {}, without }: ReadOptions) {
  if (onUnreadable === undefined)
    return withoutExcluded((await listFiles(path, { shown: path, globs })).looks, without);
  const read = new Set(looks.map(({ relative }) => relative));
  const again = await listFiles(path, { shown: path, globs, onUnreadable: () => undefined });
  return again.looks.filter(({ relative }) => read.has(relative));
}

/** Returns the files without those that are treated as missing. */
function withoutExcluded<Look extends FileStats>(looks: readonly Look[], without: ReadonlySet<string> = new Set()) {
  return without.size === 0 ? looks : looks.filter(({ relative }) => !without.has(relative));
}

async function readSingle(path: string, options: ReadOptions): Promise<DirectoryFiles | ChangedDuringRead> {
  const before = await listFile(path);
  await options.onListed?.();
  const read = async () => ({ path, text: await readText(path, path) });
  const file = await readOrReport(path, read, options);
  // Rules do not apply to a single file that is named.
  if (file === undefined) return snapshotOf([], [], { looks: [], selection: everyFile }, options);
  const snapshot = await snapshotOf([file], [before], { looks: [before], selection: everyFile }, options);
  const changing = changedBetween([before], [await listFile(path)]);
  return changing.length === 0 ? snapshot : { changing };
}

/** Whether the path is a ConfigMap mount or a Secret mount. */
export async function isMountedVolume(path: string): Promise<boolean> {
  return isLink(join(path, mountLink));
}

/**
 * Lists the files of a directory, or the one file at the path, without reading them. Returns none for a mount, because
 * its files only change all at once. Returns `undefined` when the path cannot be looked at now.
 */
export async function listDirectory(
  path: string,
  { globs = {}, without }: Pick<ReadOptions, 'globs' | 'without'> = {},
): Promise<readonly FileStats[] | undefined> {
  try {
    if (!(await stat(path)).isDirectory()) return [await listFile(path)];
    if (await isMountedVolume(path)) return [];
    return withoutExcluded((await listFiles(path, { shown: path, globs })).looks, without);
  } catch (error) {
    if (codeOf(error) === undefined && !(error instanceof Unreadable)) throw error;
    return undefined;
  }
}

async function readTree(root: string, shown: string, options: ReadOptions): Promise<DirectoryFiles> {
  const { onUnreadable, globs = {} } = options;
  const leaveOut =
    onUnreadable &&
    ((relative: string, error: unknown) => onUnreadable(join(shown, relative), reasonOf(error, join(shown, relative))));
  const { selection, ...all } = await listFiles(root, { shown, globs, onUnreadable: leaveOut });
  const [listed, looks] = [withoutExcluded(all.files, options.without), withoutExcluded(all.looks, options.without)];
  const bytes = listed.reduce((total, file) => total + file.size, 0);
  if (bytes > limits.revisionBytes) {
    throw new Unreadable(
      `"${shown}" contains ${describeBytes(bytes)}, and the maximum is ${describeBytes(limits.revisionBytes)}; use several sources.`,
    );
  }
  await options.onListed?.();
  const files = await mapInBatches(listed, readBatchSize, (file) => {
    const name = join(shown, file.relative);
    const read = () => readCached(file, name, options.cache);
    return options.onUnreadable === undefined ? read() : readOrReport(name, read, options);
  });
  const readable = files.filter((file) => file !== undefined);
  options.cache?.retainOnly(new Set(readable.map(({ path }) => path)));
  const unread = new Set(listed.filter((_, at) => files[at] === undefined).map(({ relative }) => relative));
  const read = listed.filter(({ relative }) => !unread.has(relative));
  const held = { looks: looks.filter(({ relative }) => !unread.has(relative)), selection };
  return snapshotOf(readable, read, held, options);
}

/**
 * Returns the result of `read`. When it fails and `onUnreadable` is present, reports the file and returns `undefined`.
 */
async function readOrReport<Value>(
  name: string,
  read: () => Value | Promise<Value>,
  { onUnreadable }: ReadOptions,
): Promise<Value | undefined> {
  try {
    return await read();
  } catch (error) {
    // A file that has vanished is not reported: the whole directory is read again.
    if (onUnreadable === undefined || isGone(error)) throw error;
    onUnreadable(name, reasonOf(error, name));
    return undefined;
  }
}

function readCached(listed: ListedFile, name: string, memory: FileCache | undefined): SourceFile | Promise<SourceFile> {
  return memory?.recall(name, listed) ?? readSourceFile(listed, name, memory);
}

async function readSourceFile(listed: ListedFile, name: string, memory: FileCache | undefined): Promise<SourceFile> {
  const readAt = Date.now();
  const file = { path: name, text: await readText(listed.path, name) };
  memory?.remember(file, listed, readAt);
  return file;
}

async function snapshotOf(
  files: readonly SourceFile[],
  listed: readonly FileStats[],
  { looks, selection }: { readonly looks: readonly FileStats[]; readonly selection: FileSelection },
  options: ReadOptions,
): Promise<DirectoryFiles> {
  const warnings = await frozenFileWarnings(
    files.map(({ path }) => path),
    options.mountTable,
  );
  const named = files.map((file, index) => ({ file, relative: listed[index]?.relative ?? '' }));
  const content = named.filter(({ file, relative }) => !isDirectorySettings(relative, file.text));
  return { ok: true, files: content.map(({ file }) => file), content, selection, warnings, isMount: false, looks };
}

/**
 * Whether the path is a symbolic link. Ignores errors: they occur again when the directory is read, and are reported
 * there.
 */
async function isLink(path: string): Promise<boolean> {
  const status = await lstat(path).catch(() => undefined);
  return status?.isSymbolicLink() === true;
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(ignoreGone)) !== undefined;
}

function ignoreGone(error: unknown): undefined {
  if (!isGone(error)) throw error;
}

function isGone(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist; create it or correct the path',
  ENOTDIR: 'does not exist; create it or correct the path',
  EACCES: 'may not be read; give the server permission to read it',
  EPERM: 'may not be read; give the server permission to read it',
};

/** Returns the reason for an error of the file system. Throws every other error again, because it is a defect. */
function reasonOf(error: unknown, path: string): string {
  if (error instanceof Unreadable) return error.message;
  const code = codeOf(error);
  if (code === undefined || !(error instanceof Error)) throw error;
  const failed = 'path' in error && typeof error.path === 'string' ? error.path : path;
  return `"${failed}" ${reasons[code] ?? `cannot be read: ${error.message}`}.`;
}
