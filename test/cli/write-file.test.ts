import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeWriteError } from '../../src/cli/write-file.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { runHere } from './collect.ts';

const refused = (code: string) => Object.assign(new Error(`${code}: refused`), { code, path: '/x' });

describe('a file that cannot be written', () => {
  it.each([
    ['EACCES', 'x cannot be written: permission denied (EACCES); choose a place that you may write to, or change'],
    ['EROFS', 'x cannot be written: the file system is read-only (EROFS); choose a place on another file system'],
    ['EDQUOT', 'x cannot be written: the quota of the disk is used up (EDQUOT); free space'],
    ['ELOOP', 'x cannot be written: the system refused it (ELOOP); choose another place'],
  ])('is reported for %s with the reason and what to do', (code, sentence) => {
    expect(describeWriteError('x', refused(code))).toContain(sentence);
  });

  it.each([
    ['a full disk, by an open file', { code: 'ENOSPC', syscall: 'write' }, true],
    ['the network', { code: 'ECONNRESET' }, false],
  ])('is recognized by the code of the error, and not by an error of %s', (_, members, isOfFile) => {
    expect(describeWriteError('x', Object.assign(new Error(), members)) !== undefined).toBe(isOfFile);
  });
});

it.each(['login', 'logout'])(
  '%s reports that sign-ins cannot be stored before it contacts the server',
  async (command) => {
    const file = join(await temporaryDirectory(), 'file');
    await writeFile(file, '');
    const { code, note } = await runHere([command, '--server', 'http://127.0.0.1:9'], { HEDDLE_CONFIG_DIR: file });
    expect([code, note]).toEqual([
      1,
      expect.stringMatching(/^error: Sign-ins cannot be stored; HEDDLE_CONFIG_DIR names .* cannot be written: .*\.\n$/),
    ]);
  },
);
