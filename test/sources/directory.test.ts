import { rmSync, writeFileSync } from 'node:fs';
import { rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openDirectory } from '../../src/features/sources/directory/directory.ts';
import { watchDirectory } from '../../src/features/sources/directory/watch-directory.ts';
import { type Files, hour, type Options, start, startWatched } from './directory-loop.ts';
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

describe('a directory that is being written to', () => {
  /**
   * Returns what a fetch reads when `after` is written `later` milliseconds after the fetch began. An empty text
   * deletes the file. The quiet time is 250 ms.
   */
  async function fetchWhile(before: Files, begun: Files, after: Files, later: number): Promise<Files> {
    const path = await temporaryDirectory();
    const write = (files: Files) => {
      for (const [name, text] of Object.entries(files))
        if (text === '') rmSync(join(path, name));
        else writeFileSync(join(path, name), text);
    };
    write(before);
    const origin = openDirectory({ path, onError: () => undefined });
    await origin.fetch();
    write(begun);
    const fetching = origin.fetch();
    setTimeout(() => write(after), later);
    const found = await fetching;
    if (!found.ok) throw new Error(found.reason);
    return Object.fromEntries(found.files.map((file) => [basename(file.path), file.text]));
  }

  test('is read after a quiet period, and not while a file grows', async () => {
    const found = await fetchWhile(
      { 'a.yaml': 'old' },
      { 'a.yaml': 'new, hal' },
      { 'a.yaml': 'new, half and half' },
      100,
    );
    expect(found).toEqual({ 'a.yaml': 'new, half and half' });
  });

  test('is read after a quiet period, even if the new content is as long as the old', async () => {
    const found = await fetchWhile({ 'a.yaml': 'old' }, { 'a.yaml': 'mid' }, { 'a.yaml': 'new' }, 100);
    expect(found).toEqual({ 'a.yaml': 'new' });
  });

  test.each(['fetch', 'peek'] as const)('delays the first %s too, when nothing was read before', async (how) => {
    const path = await temporaryDirectory();
    writeFileSync(join(path, 'a.yaml'), 'hal');
    const fetching = openDirectory({ path, onError: () => undefined })[how]();
    setTimeout(() => writeFileSync(join(path, 'a.yaml'), 'half and half'), 100);
    expect(await fetching).toMatchObject({ ok: true, files: [{ text: 'half and half' }] });
  });

  test('is read after a second quiet period when a file got shorter or was deleted', async () => {
    const whole = { 'a.yaml': 'one, two, three', 'b.yaml': 'b' };
    expect(await fetchWhile(whole, { 'a.yaml': 'one' }, { 'a.yaml': 'one, two' }, 400)).toEqual({
      ...whole,
      'a.yaml': 'one, two',
    });
    expect(await fetchWhile(whole, { 'b.yaml': '' }, { 'b.yaml': 'again' }, 400)).toEqual({
      ...whole,
      'b.yaml': 'again',
    });
  });
});

describe('a file that is written to continuously', () => {
  const ours = 'apiVersion: heddle.dev/v1\nkind: Group\nmetadata: {name: a}\n';

  /** Creates a directory in which one file changes every few milliseconds, until the returned `end` is called. */
  async function withWriter(name: string, text: string, options: Options = {}) {
    const path = await temporaryDirectory();
    await writeFiles(path, { 'a.yaml': 'a1' });
    let written = 0;
    const write = () => {
      written += 1;
      writeFileSync(join(path, name), `${text}# ${written}\n`);
    };
    write();
    const timer = setInterval(write, 3);
    const end = () => clearInterval(timer);
    onTestFinished(end);
    const origin = openDirectory({ path, settleMs: 20, onError: () => undefined, ...options });
    const fetch = async () => {
      const found = await origin.fetch();
      const names = found.ok ? found.files.map((file) => basename(file.path)) : found.reason;
      return { names, warnings: found.ok ? found.warnings : [] };
    };
    return { path, fetch, end };
  }

  test('without documents is left out with a warning, and read when it is quiet', async () => {
    const { path, fetch, end } = await withWriter('log.yaml', 'started: true\n');
    const left = {
      names: ['a.yaml'],
      warnings: [expect.stringMatching(/log.yaml" is being written to all the time and is not read, .*heddleignore/)],
    };
    expect(await fetch()).toEqual(left);
    await writeFile(join(path, 'a.yaml'), 'a2');
    expect(await fetch()).toEqual(left);
    end();
    await expect.poll(fetch, { timeout: 10_000 }).toEqual({ names: ['a.yaml', 'log.yaml'], warnings: [] });
  });

  test.each([
    ['holds a document', ours, new Set<string>()],
    ['stated objects', 'started: true\n', new Set(['/former/place/log.yaml'])],
  ])('that %s is never treated as deleted: nothing is read, and the reason names the file', async (_, text, stated) => {
    const { fetch, end } = await withWriter('log.yaml', text, { statedFiles: async () => stated });
    const { names } = await fetch();
    expect(names).toMatch(/is being written to all the time: ".*log.yaml", which contains documents or contained them/);
    end();
    await expect.poll(async () => (await fetch()).names, { timeout: 10_000 }).toEqual(['a.yaml', 'log.yaml']);
  });

  test('stops the directory from being read as soon as it contains a document', async () => {
    const { path, fetch, end } = await withWriter('log.yaml', 'started: true\n');
    expect((await fetch()).names).toEqual(['a.yaml']);
    end();
    const write = () => writeFileSync(join(path, 'log.yaml'), `${ours}# ${Math.random()}\n`);
    write();
    const timer = setInterval(write, 3);
    onTestFinished(() => clearInterval(timer));
    expect((await fetch()).names).toMatch(/being written to all the time/);
  });
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
