import { rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { watchDirectory } from '../../src/features/sources/directory/watch-directory.ts';
import { hour, start, startWatched } from './directory-loop.ts';
import { temporaryDirectory, writeFiles } from './mount.ts';

describe('an ordinary directory', () => {
  test('is delivered once at the start and again after each change, also in a subdirectory', async () => {
    const path = await temporaryDirectory();
    await writeFiles(path, { 'a.yaml': 'a1', 'below/b.yaml': 'b1' });
    const { seen } = await startWatched(path);
    expect(seen).toEqual(['a1,b1']);
    await writeFile(join(path, 'below/b.yaml'), 'b2');
    await expect.poll(() => seen).toEqual(['a1,b1', 'a1,b2']);
    await writeFiles(path, { 'new/c.yaml': 'c1' });
    await expect.poll(() => seen.at(-1)).toBe('a1,b2,c1');
    await rm(join(path, 'a.yaml'));
    await expect.poll(() => seen.at(-1)).toBe('b2,c1');
  });

  test('is watched below a hidden directory too', async () => {
    const path = join(await temporaryDirectory(), '.config/heddle');
    await writeFiles(path, { 'a.yaml': 'a1' });
    const { seen } = await startWatched(path);
    await writeFile(join(path, 'a.yaml'), 'a2');
    await expect.poll(() => seen).toEqual(['a1', 'a2']);
  });

  test('is polled, so changes without events are noticed', async () => {
    const path = await temporaryDirectory();
    await writeFiles(path, { 'releases/1/a.yaml': 'a1', 'releases/2/a.yaml': 'a2' });
    const current = join(path, 'current');
    await symlink('releases/1', current);
    const { seen } = start(current, { pollMs: 20 });
    await expect.poll(() => seen).toEqual(['a1']);
    await symlink('releases/2', join(path, 'next'));
    await rename(join(path, 'next'), current);
    await expect.poll(() => seen).toEqual(['a1', 'a2']);
  });

  test('may be a single file, and a change is noticed also when another file replaces it', async () => {
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
    await expect.poll(() => ready.mock.calls.length).toBeGreaterThanOrEqual(2);
    await rename(join(path, 'b.txt'), join(path, 'a.yaml'));
    await expect.poll(() => ready.mock.calls.length).toBeGreaterThanOrEqual(3);
  });

  test.each(['ENOSPC', 'EMFILE'])(
    'is polled when the system has no file watches left (%s), which is reported once',
    async (code) => {
      const path = await temporaryDirectory();
      const errors: string[] = [];
      const changed = vi.fn();
      const watchers: FSWatcher[] = [];
      const stop = watchDirectory({
        path,
        settleMs: 5,
        pollMs: 20,
        onChange: changed,
        onError: (error) => errors.push(String(error)),
        open: (directory, options) => {
          const watcher = watch(directory, options);
          watchers.push(watcher);
          // Several errors, as if one came from the watch of each directory below.
          watcher.on('ready', () => {
            for (let at = 0; at < 3; at += 1) watcher.emit('error', Object.assign(new Error(`watch ${at}`), { code }));
          });
          return watcher;
        },
      });
      onTestFinished(stop);
      await expect
        .poll(() => errors)
        .toEqual([expect.stringMatching(/no file watches left.*every 0.02 s; raise the limit/)]);
      await expect.poll(() => watchers.map(({ closed }) => closed)).toEqual([true]);
      const before = changed.mock.calls.length;
      await expect.poll(() => changed.mock.calls.length).toBeGreaterThan(before + 3);
      expect([errors.length, watchers.length]).toEqual([1, 1]);
    },
  );
});

describe('a directory source', () => {
  test('E127: is unavailable until its path exists', async () => {
    const path = join(await temporaryDirectory(), 'later');
    const { seen } = start(path, { pollMs: 20 });
    await expect.poll(() => seen).toEqual(['unavailable']);
    await writeFiles(path, { 'a.yaml': 'a1' });
    await expect.poll(() => seen.at(-1)).toBe('a1');
  });

  test('retries a failed delivery', async () => {
    const path = await temporaryDirectory();
    await writeFiles(path, { 'a.yaml': 'a1' });
    let tries = 0;
    const { errors } = start(path, {}, () => {
      tries += 1;
      if (tries === 1) throw new Error('no database');
    });
    await expect.poll(() => tries).toBe(2);
    expect(errors).toEqual([new Error('no database')]);
  });

  test('waits for a running delivery when it stops, and delivers nothing afterwards', async () => {
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
    await expect.poll(() => seen).toEqual(['a1']);
    await writeFile(join(path, 'a.yaml'), 'a2');
    const stopping = stop();
    release();
    await stopping;
    expect(done).toBe(true);
    expect(seen).toEqual(['a1']);
  });
});
