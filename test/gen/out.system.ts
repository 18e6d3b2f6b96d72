import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { programVersion } from '../../src/version.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'heddle-out-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const build = (words: readonly string[]) =>
  spawnSync(process.execPath, [`src/gen/release/${words[0]}`, ...words.slice(1)], { cwd: root, encoding: 'utf8' });

test.each(['build.ts', 'image.ts', 'executable.ts', 'layout.ts'])(
  '%s refuses an output folder with files that are not of a build, and leaves it unchanged',
  (script) => {
    const executables = mkdtempSync(join(tmpdir(), 'heddle-out-'));
    writeFileSync(join(executables, `heddle-${programVersion()}-linux-${process.arch}`), '');
    writeFileSync(join(folder, 'thesis.txt'), 'years of work');
    const more = script === 'layout.ts' ? ['--executables', executables] : [];
    const { status, stderr } = build([script, '--out', folder, ...more]);
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining(`${folder} contains other files than those of a build`),
    ]);
    expect(readdirSync(folder)).toEqual(['thesis.txt']);
    rmSync(executables, { recursive: true });
  },
);

test('a build replaces the files of an earlier build', () => {
  for (const name of ['Dockerfile', 'left-over']) writeFileSync(join(folder, name), '');
  const { status, stderr } = build(['image.ts', '--out', folder]);
  expect([status, stderr]).toEqual([0, '']);
  expect(['Dockerfile', 'left-over', 'dist/main.js'].map((name) => existsSync(join(folder, name)))).toEqual([
    true,
    false,
    true,
  ]);
}, 60_000);
