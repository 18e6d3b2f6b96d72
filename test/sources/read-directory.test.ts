import { execFileSync } from 'node:child_process';
import { mkdir, rm, symlink, truncate, unlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { limits } from '../../src/documents/limits.ts';
import { type ReadOptions, readDirectory } from '../../src/features/sources/directory/read-directory.ts';
import { project, temporaryDirectory, writeFiles } from './mount.ts';

async function readFiles(path: string, options?: ReadOptions) {
  const snapshot = await readDirectory(path, options);
  if (!snapshot.ok) throw new Error(snapshot.reason);
  return snapshot;
}

async function reasonOf(path: string): Promise<string> {
  const snapshot = await readDirectory(path);
  return snapshot.ok ? 'readable' : snapshot.reason;
}

describe('an ordinary directory', () => {
  test('is read recursively and sorted, without hidden entries and other types of files', async () => {
    const path = await temporaryDirectory();
    const files = {
      'b.yaml': 'b',
      'a/z.yml': 'z',
      'a.json': '{}',
      'README.md': 'no',
      '.hidden.yaml': 'no',
      '.git/x.yaml': 'no',
      'c.YAML': 'c',
    };
    await writeFiles(path, files);
    const { files: read, warnings } = await readFiles(path);
    expect(read.map((file) => [relative(path, file.path), file.text])).toEqual([
      ['a.json', '{}'],
      ['a/z.yml', 'z'],
      ['b.yaml', 'b'],
      ['c.YAML', 'c'],
    ]);
    expect(warnings).toEqual([]);
  });

  test('names its files with the path as it was given', async () => {
    const path = await temporaryDirectory();
    await writeFiles(path, { 'a.yaml': 'a' });
    const given = relative(process.cwd(), path);
    expect((await readFiles(`${given}/`)).files.map((file) => file.path)).toEqual([join(given, 'a.yaml')]);
  });

  test('without files is read as empty', async () => {
    expect((await readFiles(await temporaryDirectory())).files).toEqual([]);
  });

  test('has a digest of paths and contents, independent of line ends', async () => {
    const [one, same, other, moved] = await Promise.all([1, 2, 3, 4].map(temporaryDirectory));
    await writeFiles(one ?? '', { 'a.yaml': 'a: 1\nb: 2\n' });
    await writeFiles(same ?? '', { 'a.yaml': '\ufeffa: 1\r\nb: 2\r\n' });
    await writeFiles(other ?? '', { 'a.yaml': 'a: 1\nb: 3\n' });
    await writeFiles(moved ?? '', { 'b.yaml': 'a: 1\nb: 2\n' });
    const digests = await Promise.all(
      [one, same, other, moved].map(async (path) => (await readFiles(path ?? '')).digest),
    );
    expect(digests[1]).toBe(digests[0]);
    expect(new Set(digests).size).toBe(3);
  });

  test('may contain links that stay inside it, even in a cycle', async () => {
    const path = await temporaryDirectory();
    await writeFiles(path, { 'real/a.yaml': 'a' });
    await symlink('real', join(path, 'linked'));
    await symlink('..', join(path, 'real/up'));
    await symlink('/etc/passwd', join(path, 'README'));
    const { files } = await readFiles(path);
    expect(files.map((file) => relative(path, file.path))).toEqual(['linked/a.yaml', 'real/a.yaml']);
  });

  test('may be a symbolic link itself', async () => {
    const path = await temporaryDirectory();
    await writeFiles(path, { 'releases/1/a.yaml': 'a' });
    await symlink('releases/1', join(path, 'current'));
    expect((await readFiles(join(path, 'current'))).files).toMatchObject([{ path: join(path, 'current/a.yaml') }]);
  });

  test.each([
    ['a file', '/etc/passwd', 'passwd.yaml'],
    ['a directory', '/etc', 'etc'],
    ['a file beside it with the same beginning', '../outside.yaml', 'x.yaml'],
  ])('is refused with a symbolic link that leaves it for %s', async (_, target, name) => {
    const parent = await temporaryDirectory();
    await writeFiles(parent, { 'out/a.yaml': 'a', 'outside.yaml': 'no' });
    await symlink(target, join(parent, 'out', name));
    expect(await reasonOf(join(parent, 'out'))).toContain(
      `"${name}" is a symbolic link to a place outside the directory`,
    );
  });

  test('is refused with a dangling link, a pipe, text that is not UTF-8, or files beyond the limits', async () => {
    const path = await temporaryDirectory();
    const file = join(path, 'a.yaml');
    await symlink('nowhere', file);
    expect(await reasonOf(path)).toContain('is a broken symbolic link');
    await unlink(file);
    execFileSync('mkfifo', [file]);
    expect(await reasonOf(path)).toContain('is not a regular file');
    await unlink(file);
    await writeFile(file, Buffer.from([0x61, 0xff]));
    expect(await reasonOf(path)).toContain('is not UTF-8');
    await truncate(file, limits.fileBytes + 1);
    expect(await reasonOf(path)).toContain('has more than 4 MiB');
    await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        writeFile(join(path, `${index}.yaml`), '').then(() => truncate(join(path, `${index}.yaml`), limits.fileBytes)),
      ),
    );
    expect(await reasonOf(path)).toContain('and the maximum is 64 MiB');
  });

  test('is read again when a file vanishes during the read', async () => {
    const path = await temporaryDirectory();
    await writeFiles(path, { 'a.yaml': 'a', 'b.yaml': 'b' });
    let listings = 0;
    const onListed = async () => {
      listings += 1;
      if (listings === 1) await rm(join(path, 'b.yaml'));
    };
    expect((await readFiles(path, { onListed })).files).toHaveLength(1);
    expect(listings).toBe(2);
  });
});

test.each(['', 'a.yaml'])('a directory or a file that is written to during the read is read again', async (name) => {
  const path = await temporaryDirectory();
  await writeFiles(path, { 'a.yaml': 'half' });
  let listings = 0;
  const onListed = async () => {
    listings += 1;
    // The file is listed, but not read yet or only read in part, so that its content no longer matches the listing.
    if (listings === 1) await writeFile(join(path, 'a.yaml'), 'half and the rest');
  };
  expect((await readFiles(join(path, name), { onListed })).files.map(({ text }) => text)).toEqual([
    'half and the rest',
  ]);
  expect(listings).toBe(2);
});

test('a single file can be read as a source', async () => {
  const path = await temporaryDirectory();
  await writeFiles(path, { 'a.yaml': 'a' });
  expect((await readFiles(join(path, 'a.yaml'))).files).toEqual([{ path: join(path, 'a.yaml'), text: 'a' }]);
});

test('E127: a path that does not exist is unavailable, never empty', async () => {
  const path = join(await temporaryDirectory(), 'missing');
  expect(await readDirectory(path)).toEqual({
    ok: false,
    reason: `"${path}" does not exist; create it or correct the path.`,
  });
  expect(await reasonOf('/dev/null')).toContain('neither a directory nor a regular file');
});

describe('a ConfigMap mount', () => {
  test('is read once, from its current generation, and its files are named with its own path', async () => {
    const mount = await temporaryDirectory();
    await project(mount, '1', { 'a.yaml': 'a1', 'b.yaml': 'b1' });
    const { files, warnings } = await readFiles(mount);
    expect(files).toEqual([
      { path: join(mount, 'a.yaml'), text: 'a1' },
      { path: join(mount, 'b.yaml'), text: 'b1' },
    ]);
    expect(warnings).toEqual([]);
  });

  test.each([
    ['kept', undefined],
    ['removed', '1'],
  ])(
    'E128: is never read as a mix of generations after a swap during the read, with the old one %s',
    async (_, removes) => {
      const mount = await temporaryDirectory();
      await project(mount, '1', { 'a.yaml': 'a1', 'b.yaml': 'b1' });
      let listings = 0;
      const onListed = async () => {
        listings += 1;
        if (listings === 1)
          await project(mount, '2', { 'a.yaml': 'a2', 'b.yaml': 'b2' }, removes === undefined ? {} : { removes });
      };
      const { files } = await readFiles(mount, { onListed });
      expect(files.map(({ text }) => text)).toEqual(['a2', 'b2']);
      expect(listings).toBe(2);
    },
  );

  test('E128: is read only as whole generations while they are swapped continuously', async () => {
    const mount = await temporaryDirectory();
    const files = (generation: string) =>
      Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`${index}.yaml`, generation]));
    await project(mount, '0', files('0'));
    let swapping = true;
    const swaps = (async () => {
      for (let next = 1; swapping; next += 1)
        await project(mount, String(next), files(String(next)), { removes: String(next - 1) });
    })();
    const torn: string[] = [];
    let whole = 0;
    for (let reading = 0; reading < 60; reading += 1) {
      const snapshot = await readDirectory(mount);
      if (!snapshot.ok) continue;
      const texts = snapshot.files.map(({ text }) => text);
      if (texts.length === 5 && new Set(texts).size === 1) whole += 1;
      else torn.push(texts.join());
    }
    swapping = false;
    await swaps;
    expect(torn).toEqual([]);
    expect(whole).toBeGreaterThan(0);
  });

  test('is unavailable when it changes at every attempt', async () => {
    const mount = await temporaryDirectory();
    await project(mount, '0', { 'a.yaml': '0' });
    let next = 0;
    const onListed = async () => {
      next += 1;
      await project(mount, String(next), { 'a.yaml': String(next) });
    };
    expect(await readDirectory(mount, { onListed })).toMatchObject({
      ok: false,
      reason: expect.stringContaining('changed each time'),
    });
  });
});

describe('E129: a subPath mount', () => {
  test.each([
    ['of a file in the directory', (path: string) => path],
    ['of the named file', (path: string) => join(path, 'a b.yaml')],
  ])('%s causes a warning, because it will not update', async (_, named) => {
    const path = await temporaryDirectory();
    const mountTable = join(await temporaryDirectory(), 'mountinfo');
    await writeFiles(path, { 'a b.yaml': 'a', 'c.yaml': 'c' });
    const line = `600 550 8:1 /kubelet/a ${join(path, 'a\\040b.yaml')} ro,relatime - ext4 /dev/sda1 rw\n`;
    await writeFile(mountTable, `22 1 8:1 / / rw - ext4 /dev/sda1 rw\n${line}`);
    const { warnings } = await readFiles(named(path), { mountTable });
    expect(warnings).toEqual([
      expect.stringContaining(`"${join(path, 'a b.yaml')}" is mounted as a single file (subPath) and will not update`),
    ]);
  });

  test('is not reported when the whole directory is mounted', async () => {
    const path = await temporaryDirectory();
    const mountTable = join(path, 'mountinfo');
    await mkdir(join(path, 'conf.yaml'));
    await writeFiles(path, { 'conf.yaml/a.yaml': 'a' });
    await writeFile(mountTable, `600 550 8:1 /x ${join(path, 'conf.yaml')} rw - ext4 /dev/sda1 rw\n`);
    expect((await readFiles(join(path, 'conf.yaml'), { mountTable })).warnings).toEqual([]);
  });
});
