import { join } from 'node:path';
import type { SourceGlobs } from '../../src/documents/directory-settings.ts';
import { openDirectory } from '../../src/features/sources/directory/directory.ts';
import type { Fetched } from '../../src/features/sources/files/origin.ts';
import { follow, makeUpstream } from './git-host.ts';
import { temporaryDirectory, writeFiles } from './mount.ts';

export type Files = Readonly<Record<string, string>>;

async function readDirectory(files: Files, globs: SourceGlobs): Promise<Fetched> {
  const path = join(await temporaryDirectory(), 'config');
  await writeFiles(path, files);
  const found = await openDirectory({ path, globs, settleMs: 5, onError: () => undefined }).fetch();
  // Renames the files as they are named in a repository.
  return JSON.parse(JSON.stringify(found).replaceAll(path, 'config'));
}

async function readRepository(files: Files, globs: SourceGlobs): Promise<Fetched> {
  const upstream = await makeUpstream(
    Object.fromEntries(Object.entries(files).map(([name, text]) => [`config/${name}`, text])),
  );
  return (await follow({ url: upstream.url, path: 'config', ...globs })).fetch();
}

/** Reads files with these settings, as a directory and as a Git repository. */
export const readers = [
  ['directory', readDirectory],
  ['Git repository', readRepository],
] as const;
