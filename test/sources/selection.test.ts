import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDirectory } from '../../src/features/sources/directory/directory.ts';
import { temporaryDirectory, writeFiles } from './mount.ts';

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
