import { rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openDirectory } from '../../src/features/sources/directory/directory.ts';
import type { Files, Options } from './directory-loop.ts';
import { temporaryDirectory, writeFiles } from './mount.ts';

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
    await expect.poll(fetch).toEqual({ names: ['a.yaml', 'log.yaml'], warnings: [] });
  });

  test.each([
    ['holds a document', ours, new Set<string>()],
    ['stated objects', 'started: true\n', new Set(['/former/place/log.yaml'])],
  ])('that %s is never treated as deleted: nothing is read, and the reason names the file', async (_, text, stated) => {
    const { fetch, end } = await withWriter('log.yaml', text, { statedFiles: async () => stated });
    const { names } = await fetch();
    expect(names).toMatch(/is being written to all the time: ".*log.yaml", which contains documents or contained them/);
    end();
    await expect.poll(async () => (await fetch()).names).toEqual(['a.yaml', 'log.yaml']);
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
