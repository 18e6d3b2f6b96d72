import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { doc } from '../api/documents.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { sharedServer } from './served.ts';

const server = sharedServer();

/** Creates a directory with a group and, if they are given, settings. */
async function directory(key: string, settings?: string): Promise<string> {
  const path = join(await temporaryDirectory(), 'config');
  await mkdir(path);
  await writeFile(join(path, 'groups.yaml'), doc('Group', key, '{}'));
  if (settings !== undefined) await writeFile(join(path, 'heddle.yaml'), settings);
  return path;
}

describe('the source name of pushed documents', () => {
  it('is required for a directory, a file and standard input', async () => {
    const path = await directory('nameless');
    for (const words of [[path], [join(path, 'groups.yaml')], ['-']])
      for (const verb of ['plan', 'apply', 'test']) {
        const more = verb === 'apply' ? ['--auto-approve'] : [];
        const readInput = async () => doc('Group', 'nameless', '{}');
        const { code, note } = await server().heddle([verb, ...words, ...more], { readInput });
        expect([code, note]).toEqual([1, expect.stringContaining('name it with --source-name NAME')]);
      }
    expect((await server().heddle(['export', '--kind', 'Group'])).out).not.toContain('nameless');
  });

  it('is read from the heddle.yaml of the directory, and overridden by --source-name', async () => {
    const path = await directory('named', 'source: team-named\n');
    expect((await server().json('plan', path)).document).toMatchObject({ source: 'team-named', counts: { create: 1 } });
    expect((await server().json('plan', path, '--source-name', 'other')).document.source).toBe('other');
    expect((await server().heddle(['validate', path])).out).toContain('1 document in 1 file is valid');
  });

  it('is refused when heddle.yaml is invalid or two directories name different sources', async () => {
    const wrong = await directory('a', 'sorce: x\n');
    expect((await server().heddle(['plan', wrong])).note).toContain(
      '`sorce` is not a setting of a directory of documents',
    );
    const [one, two] = [await directory('a', 'source: one\n'), await directory('b', 'source: two\n')];
    expect((await server().heddle(['plan', one, two])).note).toContain(' belongs to the source one and ');
  });
});
