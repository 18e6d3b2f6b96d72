import type { SourceGlobs } from '../../../documents/directory-settings.ts';
import type { Fetched, Origin } from '../files/origin.ts';
import type { DirectorySnapshot } from '../files/snapshot.ts';
import { createFileCache } from './file-memory.ts';
import { type ReadOptions, readDirectory } from './read-directory.ts';
import { readWhenStable, recentlyWritten } from './read-when-stable.ts';
import { defaultSettleMs, watchDirectory } from './watch-directory.ts';

/** Options for a directory, a ConfigMap mount or a single file as a source of documents. */
export interface DirectoryOptions {
  readonly path: string;
  /** Globs in the settings of the source that decide which files are read. */
  readonly globs?: SourceGlobs;
  readonly settleMs?: number;
  readonly pollMs?: number;
  /** Called when looking at the directory or watching it failed. Both are tried again. */
  readonly onError: (error: unknown) => void;
  /** Returns the paths of the files that currently declare objects. Absent: there are none. */
  readonly statedFiles?: () => Promise<ReadonlySet<string>>;
  /** Overrides for tests. */
  readonly read?: ReadOptions;
}

/** A directory as an origin. What it contains is known together with the properties of its files. */
export interface DirectoryOrigin extends Origin {
  peek(): Promise<DirectorySnapshot>;
}

/**
 * Opens a directory as an origin. Events and polls are only hints: a change is reported when the content differs from
 * what was fetched last.
 */
export function openDirectory(options: DirectoryOptions): DirectoryOrigin {
  const memory = createFileCache();
  const { globs = {} } = options;
  let wasMount = false;
  let available = true;
  let fetched: string | undefined;
  let last: Extract<DirectorySnapshot, { readonly ok: true }> | undefined;
  let leftOut: ReadonlySet<string> = new Set();
  const read = (without: ReadonlySet<string>) =>
    readDirectory(options.path, { cache: memory, globs, without, ...options.read });
  const writtenStill = () => recentlyWritten(options.path, globs, leftOut);
  const checked = (found: DirectorySnapshot): DirectorySnapshot => {
    wasMount ||= found.ok && found.isMount;
    const lost = found.ok && wasMount && !found.isMount;
    available = found.ok && !lost;
    return lost ? unmountedFailure(options.path) : found;
  };
  const readQuietly = async (): Promise<DirectorySnapshot> => {
    const { path, settleMs: quietMs = defaultSettleMs, statedFiles = async () => new Set<string>() } = options;
    const still = await writtenStill();
    const found = await readWhenStable({ path, globs, quietMs, last, leftOut: still, statedFiles, read });
    leftOut = found.leftOut;
    return found;
  };
  return {
    async fetch() {
      const read = await readQuietly();
      const found = checked(read);
      if (read.ok && found.ok) last = read;
      fetched = fingerprintOf(found);
      return found;
    },
    peek: async () => checked(await readQuietly()),
    watch(changed) {
      let ended = false;
      const looks = oneAtATime(async () => {
        const state = fingerprintOf(checked(await read(await writtenStill())));
        if (!ended && state !== fetched) changed();
      }, options.onError);
      const stop = watchDirectory({ ...options, onChange: looks.request, isUrgent: () => !available });
      return async () => {
        ended = true;
        await stop();
        await looks.idle();
      };
    },
  };
}

function fingerprintOf(found: Fetched): string {
  return found.ok ? found.digest : found.reason;
}

/**
 * Returns the failure for a mount that was removed. The empty directory below it must not count as a source that
 * declares nothing.
 */
function unmountedFailure(path: string): DirectorySnapshot {
  return {
    ok: false,
    reason: `"${path}" was a mount and no longer is one (it has no \`..data\`); mount it again, or restart.`,
  };
}

/** Runs a task on request, never twice at once. Any number of requests during a run cause one further run. */
function oneAtATime(task: () => Promise<void>, onError: (error: unknown) => void) {
  let isDue = false;
  let running: Promise<void> | undefined;
  const run = async () => {
    while (isDue) {
      isDue = false;
      await task().catch(onError);
    }
    running = undefined;
  };
  return {
    request() {
      isDue = true;
      running ??= run();
    },
    idle: async () => running,
  };
}
