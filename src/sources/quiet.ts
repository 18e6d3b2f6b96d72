import { setTimeout as sleep } from 'node:timers/promises';
import type { StatedGlobs } from '../documents/directory-settings.ts';
import { isSameListing } from './list-files.ts';
import { lookAtDirectory } from './read-directory.ts';
import type { DirectorySnapshot, FileLook } from './snapshot.ts';

/** How to read a directory that somebody may be writing to. */
export interface QuietReading {
  readonly path: string;
  /** What the source states about which files are read. */
  readonly globs: StatedGlobs;
  /** How long nothing may change. */
  readonly quietMs: number;
  /** What was read last. */
  readonly last: Extract<DirectorySnapshot, { readonly ok: true }> | undefined;
  read(): Promise<DirectorySnapshot>;
}

/** A writer that truncates a file, or removes one to write it anew, is given so long once more. */
const longerMs = 500;

/** Nothing that was changed longer ago is being written, with room for clocks of network file systems. */
const recentMs = 2000;

/** Whoever writes all the time is waited for in later attempts. */
const mostRounds = 20;

/**
 * Reads a directory once nothing in it has changed for a while: size and time of every file are the same before the
 * reading, after it and at the end of that time. A file that is shorter than it was, or gone, waits for a second round.
 */
export async function readWhenQuiet({ path, globs, quietMs, last, read }: QuietReading): Promise<DirectorySnapshot> {
  let found = await read();
  for (let rounds = 0, calm = 0; rounds < mostRounds; rounds += 1) {
    if (!found.ok || found.isMount || isKnown(found, last)) return found;
    await sleep(calm === 0 ? quietMs : Math.min(longerMs, 2 * quietMs));
    const looks = await lookAtDirectory(path, globs);
    if (looks !== undefined && isSameListing(found.looks, looks)) {
      calm += 1;
      if (calm > (hasLost(found.looks, last?.looks ?? []) ? 1 : 0)) return found;
    } else {
      calm = 0;
      found = await read();
    }
  }
  return { ok: false, reason: `"${path}" is being written to all the time; it will be tried again.` };
}

/** Whether this is what was read before, or has long been so when nothing was. */
function isKnown(found: Extract<DirectorySnapshot, { readonly ok: true }>, last: QuietReading['last']): boolean {
  if (last !== undefined) return last.digest === found.digest;
  const since = Date.now() - recentMs;
  return found.looks.every(({ changedAt }) => changedAt < since);
}

function hasLost(looks: readonly FileLook[], before: readonly FileLook[]): boolean {
  const sizes = new Map(looks.map(({ relative, size }) => [relative, size]));
  return before.some(({ relative, size }) => (sizes.get(relative) ?? -1) < size);
}
