import { describe, expect, test } from 'vitest';
import type { SourceGlobs } from '../../src/documents/directory-settings.ts';
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

  test('cannot be read when the patterns need too many comparisons, which are counted, not timed', async () => {
    const name = 'a'.repeat(200);
    const many = Object.fromEntries(Array.from({ length: 400 }, (_each, at) => [`${at}/${name}.yaml`, 'x']));
    const hostile = Array.from({ length: 1000 }, (_each, at) => `${'*a'.repeat(80)}*${at}b*`).join('\n');
    const found = await read({ ...many, '.heddleignore': hostile }, {});
    expect(found).toMatchObject({ ok: false, reason: expect.stringContaining('too many or too complex') });
  });
});
