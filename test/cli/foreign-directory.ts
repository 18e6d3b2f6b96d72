import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { doc } from '../api/documents.ts';
import { temporaryDirectory } from '../setup/database.ts';
import type { Served } from './served.ts';

/** Creates a directory with these files. */
export async function directory(files: Readonly<Record<string, string>>): Promise<string> {
  const path = join(await temporaryDirectory(), 'config');
  await mkdir(path);
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  return path;
}

/** Settings of another program, which are no document. */
export const renovate = '{"extends": ["config:recommended"]}';

/** Expects that these files are ignored with a note beside a document, by a plan and by `heddle validate`. */
export async function expectIgnored(served: Served, foreign: Readonly<Record<string, string>>): Promise<void> {
  const path = await directory({ 'a.yaml': doc('Group', 'a', '{}'), ...foreign });
  const { code, document } = await served.json('plan', path, '--source-name', 'a');
  expect([code, document.counts.create]).toEqual([0, 1]);
  expect(document.warnings.map((warning: { code: string; file: string }) => [warning.code, warning.file])).toEqual(
    Object.keys(foreign).map((name) => ['file_ignored', join(path, name)]),
  );
  const valid = await served.heddle(['validate', path]);
  expect([valid.code, valid.out]).toEqual([0, expect.stringContaining('renovate.json')]);
}
