import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SourceGlobs } from '../../src/documents/directory-settings.ts';
import { openDirectory } from '../../src/features/sources/directory/directory.ts';
import { temporaryDirectory, writeFiles } from './mount.ts';
import { type Files, readers } from './read-files.ts';

const files = {
  'a.yaml': 'a',
  'draft.yaml': 'd',
  'ci/build.yaml': 'b',
  'ci/keep.yaml': 'k',
  'mesh/b.yaml': 'm',
  'mesh/draft.yaml': 'n',
};

describe.each(readers)('the files of a %s', (_, read) => {
  const names = async (more: Files, globs: SourceGlobs = {}) => {
    const found = await read({ ...files, ...more }, globs);
    return found.ok ? found.files.map(({ path }) => path.replace('config/', '')) : found.reason;
  };

  test.each<[Files, SourceGlobs, readonly string[]]>([
    [{ '.heddleignore': '# ours\ndraft.yaml\r\n\nci/\n!ci/keep.yaml\n' }, {}, ['a.yaml', 'mesh/b.yaml']],
    [{ '.heddleignore': '*.yaml\n!/a.yaml' }, {}, ['a.yaml']],
    [
      { '.heddleignore': '/draft.yaml\nci/*\n!ci/keep.yaml' },
      {},
      ['a.yaml', 'ci/keep.yaml', 'mesh/b.yaml', 'mesh/draft.yaml'],
    ],
    [{ 'mesh/.heddleignore': 'b.yaml' }, { include: ['mesh'] }, ['mesh/b.yaml', 'mesh/draft.yaml']],
    [{}, { include: ['mesh/', 'a.yaml'], exclude: ['draft.yaml'] }, ['a.yaml', 'mesh/b.yaml']],
    [
      { 'heddle.yaml': 'source: x\nexclude: [ci/]\ninclude: ["*.yaml"]\n' },
      { exclude: ['/mesh'] },
      ['a.yaml', 'draft.yaml'],
    ],
    [{ 'heddle.yaml': 'exclude: ["*"]\n' }, {}, []],
  ])('with the rule files %j and the settings %j are %j', async (more, globs, expected) => {
    expect(await names(more, globs)).toEqual(expected);
  });

  test('have a digest that depends on the rules', async () => {
    const digest = async (more: Files, globs: SourceGlobs = {}) => {
      const found = await read({ ...files, ...more }, globs);
      return found.ok ? found.digest : found.reason;
    };
    const all = [
      await digest({}),
      await digest({ '.heddleignore': 'nothing.yaml' }),
      await digest({ '.heddleignore': 'none.yaml' }),
      await digest({}, { exclude: ['nothing.yaml'] }),
      await digest({ 'heddle.yaml': 'include: ["*"]' }),
    ];
    expect(new Set(all).size).toBe(all.length);
    expect(await digest({ '.heddleignore': 'none.yaml' })).toBe(all[2]);
  });

  test('that hold documents and are left out are listed with the rule', async () => {
    const found = await read(
      { ...files, 'notes.txt': 'x', '.heddleignore': '# drafts\ndraft.yaml\nnotes.txt\n' },
      { include: ['*.yaml'], exclude: ['/a.yaml'] },
    );
    expect(found.ok && found.selection.notes.toSorted()).toEqual([
      '`exclude` of the source (/a.yaml) leaves out config/a.yaml',
      'config/.heddleignore:2 (draft.yaml) leaves out config/draft.yaml, config/mesh/draft.yaml',
    ]);
  });

  test('have problems with file and line when patterns are invalid', async () => {
    const found = await read(
      { ...files, '.heddleignore': 'ok\n[bad\n', 'heddle.yaml': 'exclude:\n  - ok\n  - ../up\nexlude: []\n' },
      {},
    );
    expect(found.ok && found.selection.problems.map(({ file, line, code }) => [file, line, code])).toEqual([
      ['config/.heddleignore', 2, 'pattern_invalid'],
      ['config/heddle.yaml', 3, 'pattern_invalid'],
      ['config/heddle.yaml', 4, 'field_unknown'],
    ]);
  });

  test('have a problem when there are more than 1000 patterns', async () => {
    const found = await read({ ...files, '.heddleignore': 'x\n'.repeat(1001) }, {});
    expect(found.ok && found.selection.problems).toMatchObject([
      { file: 'config/.heddleignore', line: 1001, message: expect.stringContaining('more than 1000 patterns') },
    ]);
  });
});

describe('a directory with ignore rules', () => {
  test('may contain links out of it and large directories if the rules leave them out', async () => {
    const path = await temporaryDirectory();
    await writeFiles(path, { 'a.yaml': 'a', '.heddleignore': 'node_modules/\nlinked*\n' });
    await mkdir(join(path, 'node_modules'));
    await symlink('/etc', join(path, 'node_modules/etc.yaml'));
    await symlink('/etc', join(path, 'linked'));
    const found = await openDirectory({ path, settleMs: 5, onError: () => undefined }).fetch();
    expect(found).toMatchObject({ ok: true, files: [{ text: 'a' }] });
  });

  test('is refused if its ignore file is a link out of it', async () => {
    const outside = await temporaryDirectory();
    const path = join(outside, 'config');
    await writeFiles(path, { 'a.yaml': 'a' });
    await writeFile(join(outside, 'secret'), 'secret words');
    await symlink('../secret', join(path, '.heddleignore'));
    const found = await openDirectory({ path, settleMs: 5, onError: () => undefined }).fetch();
    expect(found).toMatchObject({ ok: false, reason: expect.stringMatching(/".heddleignore" is a symbolic link/) });
  });

  test('is read again when its ignore file changes', async () => {
    const path = await temporaryDirectory();
    await writeFiles(path, { 'a.yaml': 'a', 'b.yaml': 'b' });
    const hour = 3_600_000;
    let looks = 0;
    const onListed = async () => {
      looks += 1;
    };
    const origin = openDirectory({ path, settleMs: 5, pollMs: hour, read: { onListed }, onError: () => undefined });
    await origin.fetch();
    const { promise: changed, resolve } = Promise.withResolvers<void>();
    const stop = origin.watch(resolve);
    try {
      // Listings of the fetch, of the start of the watch, and of its `ready` event. Only an event causes a further
      // listing.
      await expect.poll(() => looks).toBeGreaterThanOrEqual(3);
      await writeFile(join(path, '.new'), 'b.yaml\n');
      await rename(join(path, '.new'), join(path, '.heddleignore'));
      await changed;
      expect(await origin.fetch()).toMatchObject({ ok: true, files: [{ text: 'a' }] });
    } finally {
      await stop();
    }
  });
});
