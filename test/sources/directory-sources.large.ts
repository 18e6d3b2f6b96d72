import { mkdir, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readNamedSources } from '../../src/features/sources/names.ts';
import { deleteSource, detachSource } from '../../src/features/sources/source-admin.ts';
import { temporaryDirectory, writeFiles } from './mount.ts';
import { groups, newMemoryOrigin, openSampleAccount, type RunnerOptions } from './office-source.ts';

type Account = Awaited<ReturnType<typeof openSampleAccount>>;

/** Runs directories as `--source DIR` does. */
async function serve(account: Account, paths: readonly string[], options: RunnerOptions = {}) {
  return account.run([], { ...options, directories: await readNamedSources(paths) });
}

const idsOf = async (account: Account) =>
  (await account.rows('select id from sources order by id')).map((row) => row['id']);

describe('a directory that names its source', () => {
  test('is applied under the name in its heddle.yaml when its files arrive after the start', async () => {
    const account = await openSampleAccount();
    const root = await temporaryDirectory();
    const path = join(root, 'mesh');
    const { reports } = await serve(account, [path]);
    const messages = () => reports.map(({ message }) => message);
    await expect
      .poll(messages)
      .toEqual([
        `--source ${path}: "${path}" does not exist; create it or correct the path. Its source is named when it can be read.`,
      ]);
    await writeFiles(join(root, 'commit'), { 'heddle.yaml': 'source: office\n', 'a.yaml': groups('a') });
    await symlink('commit', path);
    await expect.poll(account.groups).toEqual(['a']);
    await expect.poll(async () => (await account.statusOf('office')).state).toBe('applied');
    expect(await idsOf(account)).toEqual(['office']);
  });

  test('is applied under the last part of its path when it is empty at the start and gets no heddle.yaml', async () => {
    const account = await openSampleAccount();
    const path = join(await temporaryDirectory(), 'mesh');
    await mkdir(path);
    const { reports } = await serve(account, [path]);
    await expect
      .poll(() => reports.map(({ message }) => message))
      .toEqual([expect.stringContaining('contains no documents and no heddle.yaml yet')]);
    await writeFiles(path, { 'a.yaml': groups('a') });
    await expect.poll(async () => (await account.statusOf('mesh')).state).toBe('applied');
    expect(await idsOf(account)).toEqual(['mesh']);
  });

  test('is unavailable under the name of its last record while it cannot be read, and deletes nothing', async () => {
    const account = await openSampleAccount();
    const path = join(await temporaryDirectory(), 'mesh');
    await writeFiles(path, { 'heddle.yaml': 'source: office\n', 'a.yaml': groups('a') });
    const first = await serve(account, [path]);
    await expect.poll(async () => (await account.statusOf('office')).state).toBe('applied');
    await first.stop();
    await rename(path, `${path}.away`);
    await serve(account, [path]);
    await expect.poll(async () => (await account.statusOf('office')).state).toBe('unavailable');
    expect(await account.groups()).toEqual(['a']);
    await rename(`${path}.away`, path);
    await expect.poll(async () => (await account.statusOf('office')).state).toBe('applied');
    expect(await idsOf(account)).toEqual(['office']);
  });

  test('is not applied while its heddle.yaml gives it the name of another directory', async () => {
    const account = await openSampleAccount();
    const [one, other] = [join(await temporaryDirectory(), 'one'), join(await temporaryDirectory(), 'other')];
    await writeFiles(one, { 'heddle.yaml': 'source: office\n', 'a.yaml': groups('a') });
    const { reports } = await serve(account, [one, other]);
    await expect.poll(account.groups).toEqual(['a']);
    await writeFiles(`${other}.new`, { 'heddle.yaml': 'source: office\n', 'b.yaml': groups('b') });
    await rename(`${other}.new`, other);
    await expect
      .poll(() => reports.filter(({ level }) => level === 'error').map(({ message }) => message))
      .toEqual([
        `${other} is not applied: its source would be called office, like ${one}; name it with --source NAME=${other}`,
      ]);
    expect(await account.groups()).toEqual(['a']);
  });

  test.each(['before', 'after'])(
    'does not take over the objects of another directory that runs, when it is listed %s that',
    async (position) => {
      const account = await openSampleAccount();
      const [late, running] = [join(await temporaryDirectory(), 'late'), join(await temporaryDirectory(), 'running')];
      await mkdir(late);
      await writeFiles(running, { 'heddle.yaml': 'source: office\n', 'a.yaml': groups('a') });
      const paths = position === 'before' ? [late, running] : [running, late];
      const { reports } = await serve(account, paths);
      await expect.poll(async () => (await account.statusOf('office')).state).toBe('applied');
      await writeFiles(late, { 'heddle.yaml': 'source: office\n', 'b.yaml': groups('b') });
      await expect
        .poll(() => reports.filter(({ level }) => level === 'error').map(({ message }) => message))
        .toEqual([
          `${late} is not applied: its source would be called office, like ${running}; name it with --source NAME=${late}`,
        ]);
      await writeFiles(running, { 'c.yaml': groups('c') });
      await expect.poll(account.groups).toEqual(['a', 'c']);
    },
  );

  test.each(['before', 'after'])(
    'does not take over the objects of another directory that cannot be read after a restart, when it is listed %s that',
    async (position) => {
      const account = await openSampleAccount();
      const [late, former] = [join(await temporaryDirectory(), 'late'), join(await temporaryDirectory(), 'former')];
      await mkdir(late);
      await writeFiles(former, { 'heddle.yaml': 'source: office\n', 'a.yaml': groups('a') });
      const paths = position === 'before' ? [late, former] : [former, late];
      const first = await serve(account, paths);
      await expect.poll(async () => (await account.statusOf('office')).state).toBe('applied');
      await first.stop();
      await rename(former, `${former}.away`);
      await writeFiles(late, { 'heddle.yaml': 'source: office\n', 'b.yaml': groups('b') });
      const { reports } = await serve(account, paths);
      await expect
        .poll(() => reports.filter(({ level }) => level === 'error').map(({ message }) => message))
        .toContainEqual(expect.stringMatching(`^${late} is not applied: .* called office, like .*${former};`));
      await expect.poll(async () => (await account.statusOf('office')).state).toBe('unavailable');
      expect(await account.groups()).toEqual(['a']);
      await rename(`${former}.away`, former);
      await expect.poll(async () => (await account.statusOf('office')).state).toBe('applied');
      expect(await account.groups()).toEqual(['a']);
    },
  );

  test('is applied under the name that it had at another path', async () => {
    const account = await openSampleAccount();
    const [from, to] = [join(await temporaryDirectory(), 'from'), join(await temporaryDirectory(), 'to')];
    await writeFiles(from, { 'heddle.yaml': 'source: office\n', 'a.yaml': groups('a') });
    const first = await serve(account, [from]);
    await expect.poll(account.groups).toEqual(['a']);
    await first.stop();
    await rename(from, to);
    await writeFiles(to, { 'b.yaml': groups('b') });
    await serve(account, [to]);
    await expect.poll(account.groups).toEqual(['a', 'b']);
    expect(await idsOf(account)).toEqual(['office']);
  });

  test('does not take over the objects of a source that is not a directory, and is applied once that is deleted', async () => {
    const account = await openSampleAccount();
    const { engine, call } = account;
    const path = join(await temporaryDirectory(), 'mesh');
    const team = account.run([newMemoryOrigin('office', groups('a'))], { type: 'git' });
    await expect.poll(account.groups).toEqual(['a']);
    await team.stop();
    await writeFiles(path, { 'heddle.yaml': 'source: office\n', 'b.yaml': groups('b') });
    const { reports } = await serve(account, [path]);
    await expect
      .poll(() => reports.map(({ message }) => message))
      .toEqual([
        `${path} is not applied: its source would be called office, like the git source office of the account; name it with --source NAME=${path}`,
      ]);
    expect(await account.rows('select type from sources')).toEqual([{ type: 'git' }]);
    await deleteSource(engine, call, 'office', { objects: 'orphan' });
    await expect.poll(account.groups).toEqual(['a', 'b']);
  });

  test('warns of objects that belong to the source as which it was applied before', async () => {
    const account = await openSampleAccount();
    const path = join(await temporaryDirectory(), 'mesh');
    await writeFiles(path, { 'a.yaml': groups('a', 'b') });
    const first = await serve(account, [path]);
    await expect.poll(account.groups).toEqual(['a', 'b']);
    await first.stop();
    await writeFiles(path, { 'heddle.yaml': 'source: office\n' });
    const second = await serve(account, [path]);
    await expect
      .poll(() => second.reports.map(({ message }) => message))
      .toContain(
        `source office: 2 objects still belong to the source mesh, the former name of ${path}; release them with \`heddle detach mesh\``,
      );
    await detachSource(account.engine, account.call, 'mesh');
    await second.stop();
    const third = await serve(account, [path]);
    await expect
      .poll(() => third.reports)
      .toMatchObject([{ level: 'info', message: expect.stringContaining('source office: 2 documents') }]);
  });
});
