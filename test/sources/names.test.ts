import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { defineDirectory } from '../../src/features/sources/definition.ts';
import { openDirectory } from '../../src/features/sources/directory/directory.ts';
import { nameOfDirectory, readNamedSources, refuseRepeatedNames } from '../../src/features/sources/names.ts';
import { temporaryDirectory, writeFiles } from './mount.ts';

const group = 'apiVersion: heddle.dev/v1\nkind: Group\nmetadata: {name: devs}\nspec: {}\n';

/**
 * Creates a directory called `mesh` with one document, and with the settings as its `heddle.yaml` when they are given.
 */
async function meshWith(settings?: string): Promise<string> {
  const path = join(await temporaryDirectory(), 'mesh');
  await writeFiles(path, { 'a.yaml': group, ...(settings === undefined ? {} : { 'heddle.yaml': settings }) });
  return path;
}

/**
 * Reads the source of a `--source` flag once, when its files are no longer being written. `change` runs after the source
 * was named and before it is read.
 */
async function fetchOf(text: string, change: () => Promise<unknown> = async () => undefined) {
  stopClock(3_600_000);
  const [source] = await readNamedSources([text]);
  if (source === undefined) throw new Error('every flag is a source');
  await change();
  const options = { onError: () => undefined, statedFiles: async () => new Set<string>() };
  return { name: source.name, fetched: await defineDirectory('account', source).open(options).fetch() };
}

/** Sets the clock for the rest of the test, in milliseconds from now, and stops it. */
function stopClock(fromNow: number): void {
  vi.useFakeTimers({ now: Date.now() + fromNow, toFake: ['Date'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
}

describe('a source of a server', () => {
  test.each<[string, string | undefined, string]>([
    ['the heddle.yaml of the directory', 'source: office\n', 'office'],
    ['the last part of the path without settings', undefined, 'mesh'],
    ['the last part of the path when the settings name no source', 'exclude: [ci/]\n', 'mesh'],
    ['the last part of the path when heddle.yaml contains documents', group, 'mesh'],
  ])('is named by %s', async (_, settings, name) => {
    const { fetched, ...found } = await fetchOf(await meshWith(settings));
    expect([found.name, fetched]).toMatchObject([name, { ok: true, warnings: [] }]);
  });

  test('is named by the flag if that gives a name, with a warning when heddle.yaml names another source', async () => {
    const path = await meshWith('source: office\n');
    const { name, fetched } = await fetchOf(`local=${path}`);
    const warning = `"${path}/heddle.yaml" names the source office, but it is configured as local, which is used; state the same name in both.`;
    expect([name, fetched]).toMatchObject(['local', { ok: true, warnings: [warning] }]);
    const same = await fetchOf(`office=${path}`);
    expect([same.name, same.fetched]).toMatchObject(['office', { ok: true, warnings: [] }]);
  });

  test.each(['source: [office]\n', 'source: my office\n', 'sauce: office\n'])(
    'is named by its path when the settings are invalid (%j), which are reported and nothing is applied',
    async (settings) => {
      const { name, fetched } = await fetchOf(await meshWith(settings));
      expect(name).toBe('mesh');
      expect(fetched).toMatchObject({ ok: true, selection: { problems: [expect.anything()] } });
    },
  );

  test('is not applied under its old name when heddle.yaml names another source after the start', async () => {
    const path = await meshWith();
    const { name, fetched } = await fetchOf(path, () => writeFiles(path, { 'heddle.yaml': 'source: office\n' }));
    const reason = `"${path}/heddle.yaml" names the source office, but this server runs it as mesh since its start; restart the server, or name the source with --source NAME=DIR.`;
    expect([name, fetched]).toEqual(['mesh', { ok: false, reason }]);
  });

  test('may get a name of its own later when it is named like another one by its path and is not there yet', async () => {
    const paths = [join(await temporaryDirectory(), 'current'), join(await temporaryDirectory(), 'current')];
    expect(await readNamedSources(paths)).toMatchObject(paths.map((path) => ({ path, isUnread: true })));
  });

  test.each([
    ['there is no heddle.yaml', undefined, 'mesh'],
    ['heddle.yaml is empty', '', 'mesh'],
    ['heddle.yaml is invalid', 'source:\n', 'mesh'],
    ['heddle.yaml may be half written', 'source: off', 'off'],
  ])('is named later while the files are being written and %s', async (_, settings, name) => {
    stopClock(0);
    const path = await meshWith(settings);
    expect(await readNamedSources([path])).toMatchObject([{ path, isUnread: true }]);
    stopClock(3_600_000);
    expect(await readNamedSources([path])).toEqual([{ path, name, isNamedByDirectory: true }]);
  });

  test('gets its name from the same reading as its files', async () => {
    const path = await meshWith('source: office\n');
    const found = await openDirectory({ path, onError: () => undefined }).peek();
    if (!found.ok) throw new Error(found.reason);
    await writeFiles(path, { 'heddle.yaml': '' });
    expect(nameOfDirectory(path, found)).toBe('office');
  });

  test('is refused when a flag gives it the name of another one', async () => {
    const [one, other] = [await meshWith(), await meshWith()];
    const message = `the sources ${one} and ${other} are both called office; give one of them another name`;
    await expect(readNamedSources([`office=${one}`, `office=${other}`])).rejects.toThrow(message);
    const named = await readNamedSources([`office=${one}`]);
    expect(() => refuseRepeatedNames(named, [{ name: 'office' }])).toThrow(
      `the source ${one} is called office, like a source in the settings file; give one of them another name`,
    );
  });

  test('never keeps a server from starting when its directory gives it the name of another one', async () => {
    const [one, other] = [await meshWith('source: office\n'), await meshWith('source: office\n')];
    stopClock(3_600_000);
    const named = await readNamedSources([one, `office=${other}`]);
    expect(named.map(({ name }) => name)).toEqual(['office', 'office']);
    expect(() => refuseRepeatedNames(named.slice(0, 1), [{ name: 'office' }])).not.toThrow();
  });
});
