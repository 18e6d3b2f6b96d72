import { expect, onTestFinished } from 'vitest';
import { type DirectoryOptions, openDirectory } from '../../src/features/sources/directory/directory.ts';
import { processClock, runLoop } from '../../src/features/sources/loop/loop.ts';
import { defaultTiming } from '../../src/features/sources/loop/schedule.ts';

export const hour = 3_600_000;
// Only events and retries cause a reconcile, and `burst` is high enough not to limit them.
const timing = { ...defaultTiming, intervalMs: hour, firstRetryMs: 5, lastRetryMs: 10, burst: 1000 };

export type Options = Partial<DirectoryOptions>;

export type Files = Readonly<Record<string, string>>;

/**
 * Starts a loop over a directory. `seen` records the state at each reconcile that changed it: the texts of the files,
 * or `unavailable`.
 */
export function start(path: string, options: Options = {}, deliver: () => Promise<void> | void = () => undefined) {
  const seen: string[] = [];
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const directory = openDirectory({ path, settleMs: 20, pollMs: hour, onError, ...options });
  const reconcile = async (): ReturnType<Parameters<typeof runLoop>[0]['reconcile']> => {
    const found = await directory.fetch();
    const state = found.ok ? found.files.map(({ text }) => text).join() : 'unavailable';
    if (state !== seen.at(-1)) seen.push(state);
    try {
      await deliver();
    } catch (error) {
      errors.push(error);
      return { result: 'failed' };
    }
    if (!found.ok) return { result: 'refused', key: found.reason, content: '' };
    return { result: 'done', key: found.digest, content: found.digest, wrote: false };
  };
  const loop = runLoop({ timing, clock: processClock, reconcile, onRanHot: () => undefined });
  const unwatch = directory.watch(() => loop.request('content'));
  const stop = async () => {
    // Both at once: events that the watcher sees before it has stopped start no reconcile any more.
    await Promise.all([loop.stop(), unwatch()]);
  };
  onTestFinished(stop);
  return { seen, errors, stop };
}

/**
 * Starts a loop and resolves when its watcher is ready, so that later changes are noticed by an event and not by the
 * first listing.
 */
export async function startWatched(path: string, options: Options = {}) {
  let looks = 0;
  const onListed = async () => {
    looks += 1;
    await options.read?.onListed?.();
  };
  const source = start(path, { ...options, read: { onListed } });
  // Listings of the first reconcile, of the start of the watch, and of its `ready` event.
  await expect.poll(() => looks).toBeGreaterThanOrEqual(3);
  // Files that were just written are read after the quiet time.
  await expect.poll(() => source.seen.length).toBeGreaterThan(0);
  return { ...source, looks: () => looks };
}
