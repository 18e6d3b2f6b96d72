import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { doc } from '../api/documents.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { writeFiles } from '../sources/mount.ts';
import { sharedServer } from './served.ts';

const server = sharedServer();

async function directory(files: Readonly<Record<string, string>>): Promise<string> {
  const path = join(await temporaryDirectory(), 'config');
  await writeFiles(path, files);
  return path;
}

describe('ignore rules of a document directory', () => {
  it('exclude files from plan and validate, with a note', async () => {
    const path = await directory({
      'a.yaml': doc('Group', 'a', '{}'),
      'ci/build.yaml': 'jobs: *broken\n',
      'old.yaml': doc('Group', 'old', '{}'),
      '.heddleignore': 'ci/\n',
      'heddle.yaml': 'source: ignoring\nexclude: [old.yaml]\n',
    });
    const planned = await server().heddle(['plan', path, '--json']);
    expect([planned.code, JSON.parse(planned.out)]).toEqual([
      0,
      expect.objectContaining({ source: 'ignoring', counts: expect.objectContaining({ create: 1 }) }),
    ]);
    for (const { note } of [planned, await server().heddle(['validate', path])]) {
      expect(note).toContain(`${path}/.heddleignore:1 (ci/) leaves out ${path}/ci/`);
      expect(note).toContain(`\`exclude\` of ${path}/heddle.yaml (old.yaml) leaves out ${path}/old.yaml`);
    }
  });

  it('require approval when they exclude files that stated objects', async () => {
    const path = await directory({ 'a.yaml': doc('Group', 'stays', '{}'), 'b.yaml': doc('Group', 'hides', '{}') });
    const apply = (...more: string[]) =>
      server().heddle(['apply', path, '--source-name', 'hiding', '--auto-approve', ...more]);
    expect((await apply()).code).toBe(0);
    await writeFile(join(path, '.heddleignore'), 'b.yaml\n');
    const refused = await apply();
    expect([refused.code, refused.out + refused.note]).toEqual([
      3,
      expect.stringContaining(`deletes 1 object, because .heddleignore:1 (b.yaml) excludes the files that stated it`),
    ]);
    expect((await server().heddle(['export', '--kind', 'Group'])).out).toContain('name: hides');
    const { document } = await server().json('plan', path, '--source-name', 'hiding');
    expect((await apply('--approve', document.digest)).code).toBe(0);
    expect((await server().heddle(['export', '--kind', 'Group'])).out).not.toContain('name: hides');
  });

  it('with errors are reported with file and line, and nothing is applied', async () => {
    const path = await directory({ 'a.yaml': doc('Group', 'faulty', '{}'), '.heddleignore': 'ok\n[a\n' });
    const valid = await server().heddle(['validate', path]);
    expect([valid.code, valid.out]).toEqual([5, expect.stringContaining('.heddleignore:2')]);
    const applied = await server().heddle(['apply', path, '--source-name', 'faulty', '--auto-approve']);
    expect([applied.code, applied.out + applied.note]).toEqual([5, expect.stringContaining('.heddleignore:2')]);
    await rm(join(path, '.heddleignore'));
    expect((await server().heddle(['validate', path])).code).toBe(0);
  });
});
