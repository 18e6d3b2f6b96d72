import { realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { type ChokidarOptions, type FSWatcher, watch } from 'chokidar';
import { ignoreFile } from '../../../model/sources/file-rules.ts';
import { mountLink } from './read-directory.ts';

/** Options for watching a path. */
export interface WatchOptions {
  readonly path: string;
  /** Time without events after which a change is reported, in milliseconds. */
  readonly settleMs?: number;
  readonly pollMs?: number;
  /** While this returns true, the path is polled every second. */
  readonly isUrgent?: () => boolean;
  /** Called when something may have changed. This is a hint, which the caller must check by reading. */
  readonly onChange: () => void;
  /** Called when watching failed. Polling continues. */
  readonly onError: (error: unknown) => void;
  readonly signal?: AbortSignal;
  /** Replaces chokidar's `watch` in tests. */
  readonly open?: typeof watch;
}

/** Time without events after which a change is read, in milliseconds. */
export const defaultSettleMs = 250;
const defaultPollMs = 15_000;
const urgentPollMs = 1000;

/** Time for which changes are only noticed by polling, after the system ran out of file watches, in milliseconds. */
const exhaustedPauseMs = 5 * 60_000;

/** Reports possible changes below a path, whether or not the path exists yet. Returns a function that stops it. */
export function watchDirectory(options: WatchOptions): () => Promise<void> {
  const { path, onChange, onError, settleMs = defaultSettleMs, pollMs = defaultPollMs, signal } = options;
  let settling: NodeJS.Timeout | undefined;
  let stopped = false;
  const hint = () => {
    if (stopped) return;
    clearTimeout(settling);
    settling = setTimeout(check, settleMs);
  };
  const watcher = createWatcher({ path, hint, onError, pollMs, open: options.open ?? watch });
  const check = () => {
    void watcher
      .renew()
      .catch(onError)
      .then(() => {
        if (!stopped) onChange();
      });
  };
  const endPolls = poller(check, pollMs, options.isUrgent);
  const stop = async () => {
    stopped = true;
    clearTimeout(settling);
    endPolls();
    signal?.removeEventListener('abort', stopNow);
    await watcher.close();
  };
  const stopNow = () => void stop().catch(onError);
  if (signal?.aborted) stopNow();
  else {
    signal?.addEventListener('abort', stopNow);
    check();
  }
  return stop;
}

/** Calls `check` every `pollMs`, and every second while `urgent` returns true. Returns a function that stops it. */
function poller(check: () => void, pollMs: number, urgent: (() => boolean) | undefined): () => void {
  const tick = Math.min(pollMs, urgentPollMs);
  let waited = 0;
  const timer = setInterval(() => {
    waited += tick;
    if (waited < pollMs && urgent?.() !== true) return;
    waited = 0;
    check();
  }, tick);
  return () => clearInterval(timer);
}

interface Watcher {
  /**
   * Watches what is at the path now. The watcher of a directory that was removed would stay silent after the directory
   * returns.
   */
  renew(): Promise<void>;
  close(): Promise<void>;
}

interface WatcherOptions extends Required<Pick<WatchOptions, 'path' | 'onError' | 'pollMs' | 'open'>> {
  readonly hint: () => void;
}

function createWatcher({ path, hint, onError, pollMs, open }: WatcherOptions): Watcher {
  let current: { readonly identity: string; readonly watcher: FSWatcher } | undefined;
  let closed = false;
  /** Time until which nothing is watched, because the system has no file watches left. */
  let exhaustedUntil = 0;
  let isReported = false;
  let last: Promise<void> = Promise.resolve();
  const renewNow = async () => {
    const isExhausted = performance.now() < exhaustedUntil;
    const target = closed || isExhausted ? undefined : await findTarget(path);
    if (target?.identity === current?.identity) return;
    const old = current?.watcher;
    current = undefined;
    await old?.close();
    if (closed || target === undefined) return;
    const watcher = open(target.directory, target.options);
    current = { identity: target.identity, watcher };
    // Changes before `ready` may be missed, so `ready` is a hint too.
    watcher.on('all', hint).on('ready', hint);
    watcher.on('error', (error) => {
      if (!isExhaustion(error)) return onError(error);
      // Every directory below raises this error, so it is reported only once. Watching stops, because a tree that is
      // only half watched must be polled anyway.
      exhaustedUntil = performance.now() + exhaustedPauseMs;
      if (current?.watcher === watcher) void renew().catch(onError);
      if (!isReported) onError(new Error(exhaustedMessage(error, pollMs), { cause: error }));
      isReported = true;
    });
    watcher.on('unlinkDir', (gone) => {
      if (gone === target.directory && current?.watcher === watcher) current = { identity: 'removed', watcher };
    });
  };
  const renew = (): Promise<void> => {
    last = last.then(renewNow, renewNow);
    return last;
  };
  return {
    renew,
    close() {
      closed = true;
      return renew();
    },
  };
}

type Exhaustion = Error & { readonly code: 'ENOSPC' | 'EMFILE' };

function isExhaustion(error: unknown): error is Exhaustion {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EMFILE');
}

function exhaustedMessage({ code }: Exhaustion, pollMs: number): string {
  const setting = code === 'ENOSPC' ? 'fs.inotify.max_user_watches' : 'fs.inotify.max_user_instances or open files';
  return `the system has no file watches left (${code}), so changes are detected by polling every ${pollMs / 1000} s; raise the limit of ${setting}`;
}

interface WatchTarget {
  readonly directory: string;
  readonly options: ChokidarOptions;
  /** Changes when the directory is replaced by another one, or becomes a mount. */
  readonly identity: string;
}

/**
 * Returns what to watch for a path: the directory of a file, the top of a mount, or a whole tree. Returns `undefined`
 * when there is nothing to watch.
 */
async function findTarget(path: string): Promise<WatchTarget | undefined> {
  try {
    const isTree = (await stat(path)).isDirectory();
    const directory = await realpath(isTree ? path : dirname(path));
    const isMount = isTree && (await isThere(join(directory, mountLink)));
    const { dev, ino, birthtimeNs } = await stat(directory, { bigint: true });
    const shape = isMount ? 'mount' : isTree ? 'tree' : 'file';
    // Inode numbers are reused at once. Together with the birth time they are unique.
    const identity = [shape, directory, dev, ino, birthtimeNs].join(' ');
    return { directory, identity, options: isTree && !isMount ? treeOptions(directory) : flatOptions };
  } catch {
    // Reading the path reports why it cannot be watched.
    return undefined;
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/**
 * In a mount, a new generation appears as entries of the mount directory. Watching a single file, or ignoring dot
 * entries, would notice a change only when kubelet happens to delete the old generation.
 */
const flatOptions: ChokidarOptions = { followSymlinks: false, depth: 0, ignoreInitial: true };

function treeOptions(root: string): ChokidarOptions {
  const isHidden = (path: string) => {
    const below = relative(root, path);
    return below !== ignoreFile && below.split(sep).some((step) => step.startsWith('.'));
  };
  return { followSymlinks: false, ignoreInitial: true, ignored: isHidden };
}
