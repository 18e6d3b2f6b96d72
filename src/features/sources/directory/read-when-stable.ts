import { setTimeout as sleep } from 'node:timers/promises';
import type { StatedGlobs } from '../../../documents/directory-settings.ts';
import { changedBetween } from '../files/list-files.ts';
import type { DirectorySnapshot, FileLook } from '../files/snapshot.ts';
import { type ChangingFiles, findChangingFiles } from './changing-files.ts';
import { lookAtDirectory } from './read-directory.ts';

/** How to read a directory that may be written to meanwhile. */
export interface StableReading {
  readonly path: string;
  /** What the source states about which files are read. */
  readonly globs: StatedGlobs;
  /** How long nothing may change. */
  readonly quietMs: number;
  /** What was read last. */
  readonly last: Readable | undefined;
  /** Files that were written to all the time when it was read last, and are so still. */
  readonly leftOut: ReadonlySet<string>;
  /** The files that state objects until now. */
  readonly statedFiles: () => Promise<ReadonlySet<string>>;
  /** Reads all files but these. */
  read(without: ReadonlySet<string>): Promise<DirectorySnapshot>;
}

type Readable = Extract<DirectorySnapshot, { readonly ok: true }>;

/** A writer that truncates a file, or removes one to write it again, is given so long once more. */
const longerMs = 500;

/** Nothing that was changed longer ago is being written, with room for clocks of network file systems. */
const recentMs = 2000;

/** A directory that is written to all the time is read by later attempts. */
const mostRounds = 20;

/**
 * Reads a directory once nothing in it has changed for a while: size and time of every file are the same before the
 * reading, after it and at the end of that time. A file that is shorter than it was, or gone, waits for a second round.
 * A file that never comes to rest is left out when it is none of documents, such as a log; when it may be one, nothing is
 * read for now, since it must not count as gone.
 */
export async function readWhenStable(
  reading: StableReading,
): Promise<DirectorySnapshot & { leftOut: ReadonlySet<string> }> {
  const { path, globs, quietMs, last, read } = reading;
  const changing = await findChangingFiles(reading);
  let found = await read(changing.leftOut());
  for (let rounds = 0, calm = 0; rounds < mostRounds; rounds += 1) {
    if (found.ok ? found.isMount || isKnown(found, last) : found.changing === undefined) return endOf(found, changing);
    await sleep(calm === 0 ? quietMs : Math.min(longerMs, 2 * quietMs));
    const changed = found.ok ? await changedSince(found, path, { globs, without: changing.leftOut() }) : found.changing;
    if (changed?.length === 0 && found.ok) {
      calm += 1;
      if (calm > (hasLost(found.looks, last?.looks ?? []) ? 1 : 0)) return endOf(found, changing);
    } else {
      calm = 0;
      await changing.note(changed ?? []);
      found = await read(changing.leftOut());
    }
  }
  const names = changing.named();
  const reason = `"${path}" is being written to all the time${names === '' ? '' : `: ${names}`}; it will be tried again.`;
  return { ok: false, reason, leftOut: changing.leftOut() };
}

function endOf(found: DirectorySnapshot, changing: ChangingFiles) {
  const leftOut = changing.leftOut();
  return found.ok
    ? { ...found, warnings: [...found.warnings, ...changing.warnings()], leftOut }
    : { ...found, leftOut };
}

/** Of some files, those that were changed a moment ago. */
export async function recentlyWritten(path: string, globs: StatedGlobs, files: ReadonlySet<string>) {
  if (files.size === 0) return files;
  const since = Date.now() - recentMs;
  const looks = (await lookAtDirectory(path, { globs })) ?? [];
  const recent = looks.filter(({ relative, changedAt }) => files.has(relative) && changedAt >= since);
  return new Set(recent.map(({ relative }) => relative));
}

/** The files that changed since the reading; `undefined` while that cannot be said. */
async function changedSince(
  { looks }: Readable,
  path: string,
  options: Parameters<typeof lookAtDirectory>[1],
): Promise<readonly string[] | undefined> {
  const now = await lookAtDirectory(path, options);
  return now && changedBetween(looks, now);
}

/** Whether this is what was read before, or has long been so when nothing was. */
function isKnown(found: Readable, last: StableReading['last']): boolean {
  if (last !== undefined) return last.digest === found.digest;
  const since = Date.now() - recentMs;
  return found.looks.every(({ changedAt }) => changedAt < since);
}

function hasLost(looks: readonly FileLook[], before: readonly FileLook[]): boolean {
  const sizes = new Map(looks.map(({ relative, size }) => [relative, size]));
  return before.some(({ relative, size }) => (sizes.get(relative) ?? -1) < size);
}
