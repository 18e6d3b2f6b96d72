import { setTimeout as sleep } from 'node:timers/promises';
import type { SourceGlobs } from '../../../documents/directory-settings.ts';
import { changedBetween } from '../files/list-files.ts';
import type { DirectorySnapshot, FileStats } from '../files/snapshot.ts';
import { type ChangingFiles, trackChangingFiles } from './changing-files.ts';
import { isMountedVolume, listDirectory } from './read-directory.ts';

/** Options for reading a directory that may be written to during the reading. */
export interface StableReadOptions {
  readonly path: string;
  /** Globs in the settings of the source that decide which files are read. */
  readonly globs: SourceGlobs;
  /** Time for which nothing may change, in milliseconds. */
  readonly quietMs: number;
  /** Result of the last reading. `undefined`: there was none. */
  readonly last: Readable | undefined;
  /** Files that the last reading left out because they kept changing, and that changed again a moment ago. */
  readonly leftOut: ReadonlySet<string>;
  /** Returns the paths of the files that currently declare objects. */
  readonly statedFiles: () => Promise<ReadonlySet<string>>;
  /** Reads all files except these. */
  read(without: ReadonlySet<string>): Promise<DirectorySnapshot>;
}

type Readable = Extract<DirectorySnapshot, { readonly ok: true }>;

/**
 * Maximum length of the second quiet period, in milliseconds. It gives time to a writer that truncates a file, or
 * removes it to write it again.
 */
const maxSecondQuietMs = 500;

/**
 * A file that changed longer ago than this, in milliseconds, is not being written any more. Leaves room for the clocks
 * of network file systems.
 */
const recentMs = 2000;

/** Maximum number of rounds in one attempt. A directory that is still being written to is read by later attempts. */
const maxRounds = 20;

/**
 * Reads a directory once nothing in it has changed for `quietMs`: the size and time of every file are the same before
 * the reading, after it and at the end of the quiet period. A file that became shorter or disappeared requires a second
 * quiet period. A file that never stops changing is left out when it contains no documents, such as a log. When it may
 * contain documents, the reading fails for now, because the file must not count as deleted.
 */
export async function readWhenStable(
  reading: StableReadOptions,
): Promise<DirectorySnapshot & { leftOut: ReadonlySet<string> }> {
  const { path, globs, quietMs, last, read } = reading;
  const changing = await trackChangingFiles(reading);
  let found = await read(changing.leftOut());
  for (let rounds = 0, calm = 0; rounds < maxRounds; rounds += 1) {
    if (found.ok ? found.isMount || isUnchanged(found, last) : found.changing === undefined)
      return resultOf(found, changing);
    await sleep(calm === 0 ? quietMs : Math.min(maxSecondQuietMs, 2 * quietMs));
    const changed = found.ok ? await changedSince(found, path, { globs, without: changing.leftOut() }) : found.changing;
    if (changed?.length === 0 && found.ok) {
      calm += 1;
      if (calm > (hasShrunk(found.looks, last?.looks ?? []) ? 1 : 0)) return resultOf(found, changing);
    } else {
      calm = 0;
      await changing.note(changed ?? []);
      found = await read(changing.leftOut());
    }
  }
  const names = changing.describeLatest();
  const reason = `"${path}" is being written to all the time${names === '' ? '' : `: ${names}`}; it will be tried again.`;
  return { ok: false, reason, leftOut: changing.leftOut() };
}

function resultOf(found: DirectorySnapshot, changing: ChangingFiles) {
  const leftOut = changing.leftOut();
  return found.ok
    ? { ...found, warnings: [...found.warnings, ...changing.warnings()], leftOut }
    : { ...found, leftOut };
}

/** Returns those of the given files that changed within the last `recentMs`. */
export async function recentlyWritten(path: string, globs: SourceGlobs, files: ReadonlySet<string>) {
  if (files.size === 0) return files;
  const since = Date.now() - recentMs;
  const looks = (await listDirectory(path, { globs })) ?? [];
  const recent = looks.filter(({ relative, changedAt }) => files.has(relative) && changedAt >= since);
  return new Set(recent.map(({ relative }) => relative));
}

/**
 * Returns whether the path is a mount, or a file or directory whose files can be listed now and were not written within
 * the last `recentMs`.
 */
export async function hasQuietFiles(path: string): Promise<boolean> {
  const listed = await listDirectory(path);
  if (listed === undefined) return false;
  return listed.length === 0 ? isMountedVolume(path) : areQuiet(listed);
}

/** Returns the files that changed since the reading, or `undefined` when the path cannot be looked at now. */
async function changedSince(
  { looks }: Readable,
  path: string,
  options: Parameters<typeof listDirectory>[1],
): Promise<readonly string[] | undefined> {
  const now = await listDirectory(path, options);
  return now && changedBetween(looks, now);
}

/**
 * Whether the content is that of the last reading. Without a last reading: whether no file changed within the last
 * `recentMs`.
 */
function isUnchanged(found: Readable, last: StableReadOptions['last']): boolean {
  if (last !== undefined) return last.digest === found.digest;
  return areQuiet(found.looks);
}

function areQuiet(looks: readonly FileStats[]): boolean {
  const since = Date.now() - recentMs;
  return looks.every(({ changedAt }) => changedAt < since);
}

function hasShrunk(looks: readonly FileStats[], before: readonly FileStats[]): boolean {
  const sizes = new Map(looks.map(({ relative, size }) => [relative, size]));
  return before.some(({ relative, size }) => (sizes.get(relative) ?? -1) < size);
}
