import { setTimeout as sleep } from 'node:timers/promises';
import type { StatedGlobs } from '../../../documents/directory-settings.ts';
import { changedBetween } from '../files/list-files.ts';
import type { DirectorySnapshot, FileLook } from '../files/snapshot.ts';
import { lookAtDirectory } from './read-directory.ts';
import { findRestlessFiles, type RestlessFiles } from './restless-files.ts';

/** How to read a directory that somebody may be writing to. */
export interface QuietReading {
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

/** A writer that truncates a file, or removes one to write it anew, is given so long once more. */
const longerMs = 500;

/** Nothing that was changed longer ago is being written, with room for clocks of network file systems. */
const recentMs = 2000;

/** Whoever writes documents all the time is waited for in later attempts. */
const mostRounds = 20;

/**
 * Reads a directory once nothing in it has changed for a while: size and time of every file are the same before the
 * reading, after it and at the end of that time. A file that is shorter than it was, or gone, waits for a second round.
 * A file that never comes to rest is left out when it is none of documents, such as a log; when it may be one, nothing is
 * read for now, since it must not count as gone.
 */
export async function readWhenQuiet(
  reading: QuietReading,
): Promise<DirectorySnapshot & { leftOut: ReadonlySet<string> }> {
  const { path, globs, quietMs, last, read } = reading;
  const restless = await findRestlessFiles(reading);
  let found = await read(restless.leftOut());
  for (let rounds = 0, calm = 0; rounds < mostRounds; rounds += 1) {
    if (found.ok ? found.isMount || isKnown(found, last) : found.restless === undefined) return endOf(found, restless);
    await sleep(calm === 0 ? quietMs : Math.min(longerMs, 2 * quietMs));
    const changed = found.ok ? await changedSince(found, path, { globs, without: restless.leftOut() }) : found.restless;
    if (changed?.length === 0 && found.ok) {
      calm += 1;
      if (calm > (hasLost(found.looks, last?.looks ?? []) ? 1 : 0)) return endOf(found, restless);
    } else {
      calm = 0;
      await restless.note(changed ?? []);
      found = await read(restless.leftOut());
    }
  }
  const names = restless.named();
  const reason = `"${path}" is being written to all the time${names === '' ? '' : `: ${names}`}; it will be tried again.`;
  return { ok: false, reason, leftOut: restless.leftOut() };
}

function endOf(found: DirectorySnapshot, restless: RestlessFiles) {
  const leftOut = restless.leftOut();
  return found.ok
    ? { ...found, warnings: [...found.warnings, ...restless.warnings()], leftOut }
    : { ...found, leftOut };
}

/** Of some files, those that were changed a moment ago. */
export async function stillWritten(path: string, globs: StatedGlobs, files: ReadonlySet<string>) {
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
function isKnown(found: Readable, last: QuietReading['last']): boolean {
  if (last !== undefined) return last.digest === found.digest;
  const since = Date.now() - recentMs;
  return found.looks.every(({ changedAt }) => changedAt < since);
}

function hasLost(looks: readonly FileLook[], before: readonly FileLook[]): boolean {
  const sizes = new Map(looks.map(({ relative, size }) => [relative, size]));
  return before.some(({ relative, size }) => (sizes.get(relative) ?? -1) < size);
}
