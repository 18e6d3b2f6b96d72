import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  createDataDirectory,
  createDirectory,
  createFile,
  freeMebibytes,
  inDataDirectory,
} from '../../src/db/embedded/disk.ts';
import { Unavailable } from '../../src/model/errors.ts';
import { temporaryDirectory } from '../setup/database.ts';

it('a file of the data directory is created once, with access for its owner only', async () => {
  const path = join(await temporaryDirectory(), 'key');
  expect([await createFile(path, 'first'), await createFile(path, 'second')]).toEqual([true, false]);
  expect([await readFile(path, 'utf8'), ((await stat(path)).mode & 0o777).toString(8)]).toEqual(['first', '600']);
});

it.each([
  ['ENOSPC', 'is on a disk that is full; make room and start again'],
  ['EDQUOT', 'is on a disk that is full'],
  ['EACCES', 'is not writable; make it writable for the user who runs Heddle'],
  ['EROFS', 'is not writable'],
  ['ENOTDIR', 'is not a directory'],
])('a data directory that fails with %s is reported with a fix', async (code, words) => {
  const refuse = () => Promise.reject(Object.assign(new Error('raw'), { code }));
  const refused = inDataDirectory('/data', refuse);
  await expect(refused).rejects.toThrow(`The data directory /data ${words}`);
  await expect(refused).rejects.toBeInstanceOf(Unavailable);
});

it('a directory is created with those above it, and stays when it exists', async () => {
  const path = join(await temporaryDirectory(), 'a/b/c');
  for (const _ of ['new', 'existing']) await createDirectory(path, 0o700);
  expect(((await stat(path)).mode & 0o777).toString(8)).toBe('700');
  await writeFile(join(path, 'file'), '');
  await expect(createDirectory(join(path, 'file'))).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(createDirectory(join(path, 'file/d'))).rejects.toMatchObject({ code: 'ENOTDIR' });
});

it.each(['/proc/heddle', '/proc/heddle/below'])(
  'a data directory that its file system cannot have, %s, is reported with a fix',
  async (path) => {
    const creation = createDataDirectory(path);
    await expect(creation).rejects.toBeInstanceOf(Unavailable);
    await expect(creation).rejects.toThrow(`The data directory ${path} cannot be created`);
  },
);

it('a defect in a data directory is rethrown unchanged', async () => {
  const defect = new TypeError('raw');
  await expect(inDataDirectory('/data', () => Promise.reject(defect))).rejects.toBe(defect);
});

it('free disk space is reported in MiB', async () => {
  const room = await freeMebibytes(await temporaryDirectory());
  expect([Number.isInteger(room), room > 0]).toEqual([true, true]);
});
