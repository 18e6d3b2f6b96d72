import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createDirectorySource, type Deliver, type DirectorySourceOptions } from '../../src/sources/directory.ts';
import type { DirectorySnapshot } from '../../src/sources/snapshot.ts';
import { watchDirectory } from '../../src/sources/watch-directory.ts';
import { project, temporaryDirectory, writeFiles } from './mount.ts';

const hour = 3_600_000;
const patience = { timeout: 10_000, interval: 10 };

/** A source whose deliveries are recorded as the files' texts or as `unavailable`. */
function start(path: string, options: Partial<DirectorySourceOptions> = {}, deliver: Deliver = () => undefined) {
  const seen: string[] = [];
  const errors: unknown[] = [];
  const record = async (snapshot: DirectorySnapshot) => {
    seen.push(snapshot.ok ? snapshot.files.map(({ text }) => text).join() : 'unavailable');
    await deliver(snapshot);
  };
  const onError = (error: unknown) => void errors.push(error);
  const stop = createDirectorySource({ path, settleMs: 20, pollMs: hour, onError, ...options }, record);
  onTestFinished(stop);
  return { seen, errors, stop };
}

/** Resolves when the watcher has announced itself, so that what follows is seen by an event and not by the first look. */
async function startWatched(path: string, options: Partial<DirectorySourceOptions> = {}, deliver?: Deliver) {
  let looks = 0;
  const onListed = async () => {
    looks += 1;
    await options.read?.onListed?.();
  };
  const source = start(path, { ...options, read: { onListed } }, deliver);
  await vi.waitUntil(() => looks >= 2, patience);
  return { ...source, looks: () => looks };
}

describe('an ordinary directory', () => {
  test('is delivered once at the start and again for each change, in a directory below too', async () => {
    const path = await temporaryDirectory();
    await writeFiles(path, { 'a.yaml': 'a1', 'below/b.yaml': 'b1' });
    const { seen } = await startWatched(path);
    expect(seen).toEqual(['a1,b1']);
    await writeFile(join(path, 'below/b.yaml'), 'b2');
    await expect.poll(() => seen, patience).toEqual(['a1,b1', 'a1,b2']);
    await writeFiles(path, { 'new/c.yaml': 'c1' });
    await expect.poll(() => seen.at(-1), patience).toBe('a1,b2,c1');
    await rm(join(path, 'a.yaml'));
    await expect.poll(() => seen.at(-1), patience).toBe('b2,c1');
  });

  test('in a hidden directory is watched like any other', async () => {
    const path = join(await temporaryDirectory(), '.config/heddle');
    await writeFiles(path, { 'a.yaml': 'a1' });
    const { seen } = await startWatched(path);
    await writeFile(join(path, 'a.yaml'), 'a2');
    await expect.poll(() => seen, patience).toEqual(['a1', 'a2']);
  });

  test('without any event is seen by the polls', async () => {
    const path = await temporaryDirectory();
    await writeFiles(path, { 'releases/1/a.yaml': 'a1', 'releases/2/a.yaml': 'a2' });
    const current = join(path, 'current');
    await symlink('releases/1', current);
    const { seen } = start(current, { pollMs: 20 });
    await expect.poll(() => seen, patience).toEqual(['a1']);
    await symlink('releases/2', join(path, 'next'));
    await rename(join(path, 'next'), current);
    await expect.poll(() => seen, patience).toEqual(['a1', 'a2']);
  });

  test('a single file is seen to change, also when another file takes its place', async () => {
    const path = await temporaryDirectory();
    await writeFiles(path, { 'a.yaml': 'a1', 'b.txt': 'a2' });
    const ready = vi.fn();
    const stop = watchDirectory({
      path: join(path, 'a.yaml'),
      settleMs: 5,
      pollMs: hour,
      onChange: ready,
      onError: () => undefined,
    });
    onTestFinished(stop);
    await vi.waitUntil(() => ready.mock.calls.length >= 2, patience);
    await rename(join(path, 'b.txt'), join(path, 'a.yaml'));
    await vi.waitUntil(() => ready.mock.calls.length >= 3, patience);
  });
});

describe('a ConfigMap mount', () => {
  test.each([
    ['kept', undefined],
    ['removed', '1'],
  ])('E124: a swap is delivered when the old generation is %s', async (_, removes) => {
    const mount = await temporaryDirectory();
    await project(mount, '1', { 'a.yaml': 'a1' });
    const { seen } = await startWatched(mount);
    await project(mount, '2', { 'a.yaml': 'a2' }, removes === undefined ? {} : { removes });
    await expect.poll(() => seen, patience).toEqual(['a1', 'a2']);
  });

  test('E125: five swaps in a burst are one delivery, of the last', async () => {
    const mount = await temporaryDirectory();
    await project(mount, '1', { 'a.yaml': 'a1' });
    const { seen } = await startWatched(mount, { settleMs: 300 });
    for (const next of [2, 3, 4, 5, 6]) {
      await project(mount, String(next), { 'a.yaml': `a${next}` }, { removes: String(next - 1) });
    }
    await expect.poll(() => seen, patience).toEqual(['a1', 'a6']);
  });

  test('E125: changes during a delivery wait for it and become one further delivery', async () => {
    const mount = await temporaryDirectory();
    await project(mount, '1', { 'a.yaml': 'a1' });
    let active = 0;
    let most = 0;
    let release: () => void = () => undefined;
    const { seen } = start(mount, { pollMs: 5 }, async () => {
      active += 1;
      most = Math.max(most, active);
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      active -= 1;
    });
    await expect.poll(() => seen, patience).toEqual(['a1']);
    for (const next of [2, 3, 4]) await project(mount, String(next), { 'a.yaml': `a${next}` });
    release();
    await expect.poll(() => seen, patience).toEqual(['a1', 'a4']);
    release();
    expect(most).toBe(1);
  });

  test('E126: the same content projected again is not delivered', async () => {
    const mount = await temporaryDirectory();
    await project(mount, '1', { 'a.yaml': 'a1' });
    const { seen, looks } = await startWatched(mount);
    const before = looks();
    await project(mount, '2', { 'a.yaml': 'a1' }, { removes: '1' });
    await vi.waitUntil(() => looks() > before, patience);
    await project(mount, '3', { 'a.yaml': 'a3' });
    await expect.poll(() => seen, patience).toEqual(['a1', 'a3']);
  });

  test('E127: a mount that vanishes is unavailable, and after its return its events are heard again', async () => {
    // Polls come when the test says so; everything else runs in real time.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const mount = join(await temporaryDirectory(), 'mount');
    await mkdir(mount);
    await project(mount, '1', { 'a.yaml': 'a1' });
    let looks = 0;
    const onListed = async () => {
      looks += 1;
    };
    const { seen } = start(mount, { read: { onListed } });
    await expect.poll(() => looks, patience).toBe(2);
    await rm(mount, { recursive: true });
    await expect.poll(() => seen, patience).toEqual(['a1', 'unavailable']);
    await mkdir(mount);
    await project(mount, '2', { 'a.yaml': 'a1' });
    vi.advanceTimersByTime(hour);
    await expect.poll(() => seen, patience).toEqual(['a1', 'unavailable', 'a1']);
    await expect.poll(() => looks, patience).toBeGreaterThanOrEqual(4);
    await project(mount, '3', { 'a.yaml': 'a3' });
    await expect.poll(() => seen, patience).toEqual(['a1', 'unavailable', 'a1', 'a3']);
  });

  test('E127: the directory below a mount that went away is unavailable, not empty', async () => {
    const mount = await temporaryDirectory();
    await project(mount, '1', { 'a.yaml': 'a1' });
    const { seen } = await startWatched(mount);
    for (const name of ['a.yaml', '..data', '..1']) await rm(join(mount, name), { recursive: true });
    await expect.poll(() => seen, patience).toEqual(['a1', 'unavailable']);
    await project(mount, '2', { 'a.yaml': 'a1' });
    await expect.poll(() => seen, patience).toEqual(['a1', 'unavailable', 'a1']);
  });

  test('E127: the watcher itself follows a directory that was removed and made again', async () => {
    const mount = join(await temporaryDirectory(), 'mount');
    await mkdir(mount);
    await project(mount, '1', { 'a.yaml': 'a1' });
    const { seen } = await startWatched(mount);
    await rm(mount, { recursive: true });
    // No poll comes within the hour: the removal must be an event.
    await expect.poll(() => seen, patience).toEqual(['a1', 'unavailable']);
  });
});

describe('the source', () => {
  test('E127: a path that does not exist yet is unavailable until it does', async () => {
    const path = join(await temporaryDirectory(), 'later');
    const { seen } = start(path, { pollMs: 20 });
    await expect.poll(() => seen, patience).toEqual(['unavailable']);
    await writeFiles(path, { 'a.yaml': 'a1' });
    await expect.poll(() => seen.at(-1), patience).toBe('a1');
  });

  test('a failed delivery is reported and tried again at the next look', async () => {
    const path = await temporaryDirectory();
    await writeFiles(path, { 'a.yaml': 'a1' });
    let failures = 1;
    const { seen, errors } = start(path, { pollMs: 20 }, () => {
      failures -= 1;
      if (failures >= 0) throw new Error('no database');
    });
    await expect.poll(() => seen, patience).toEqual(['a1', 'a1']);
    expect(errors).toEqual([new Error('no database')]);
  });

  test('stopping waits for a running delivery, and nothing comes after it', async () => {
    const path = await temporaryDirectory();
    await writeFiles(path, { 'a.yaml': 'a1' });
    let done = false;
    let release: () => void = () => undefined;
    const { seen, stop } = start(path, { pollMs: 5 }, async () => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      done = true;
    });
    await expect.poll(() => seen, patience).toEqual(['a1']);
    await writeFile(join(path, 'a.yaml'), 'a2');
    const stopping = stop();
    release();
    await stopping;
    expect(done).toBe(true);
    expect(seen).toEqual(['a1']);
  });

  test('an aborted signal stops it like the function, and one aborted before lets nothing start', async () => {
    const path = await temporaryDirectory();
    await writeFiles(path, { 'a.yaml': 'a1' });
    const abort = new AbortController();
    const first = start(path, { pollMs: 5, signal: abort.signal });
    await expect.poll(() => first.seen, patience).toEqual(['a1']);
    abort.abort();
    await first.stop();
    await writeFile(join(path, 'a.yaml'), 'a2');
    const second = start(path, { pollMs: 5, signal: abort.signal });
    const third = start(path, { pollMs: 5 });
    await expect.poll(() => third.seen, patience).toEqual(['a2']);
    expect(first.seen).toEqual(['a1']);
    expect(second.seen).toEqual([]);
  });
});
