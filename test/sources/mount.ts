import { mkdir, mkdtemp, realpath, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Files by relative path. */
export type Files = Readonly<Record<string, string>>;

/** Creates an empty directory that is removed after the test. */
export async function temporaryDirectory(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'heddle-source-')));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** Writes files, and creates their directories. */
export async function writeFiles(directory: string, files: Files): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), text);
  }
}

/**
 * Projects files into a directory as kubelet does: writes a new generation next to the old one, and then replaces the
 * link `..data` with a link to the new one. `removes` names an old generation to delete.
 */
export async function project(
  mount: string,
  generation: string,
  files: Files,
  options: { readonly removes?: string } = {},
): Promise<void> {
  await writeFiles(join(mount, `..${generation}`), files);
  await symlink(`..${generation}`, join(mount, '..data_tmp'));
  await rename(join(mount, '..data_tmp'), join(mount, '..data'));
  for (const name of Object.keys(files)) {
    await unlink(join(mount, name)).catch(() => undefined);
    await symlink(join('..data', name), join(mount, name));
  }
  if (options.removes !== undefined) await rm(join(mount, `..${options.removes}`), { recursive: true });
}
