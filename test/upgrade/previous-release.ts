import { execFile } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../setup/database.ts';
import type { Program } from '../setup/heddle.ts';

/** Last commit of the previous release. Its servers run next to new ones while an installation is updated. */
const commit = '7cf0d6b2a33d8629661dcd128fd984caf8e521fa';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Extracts the program of the previous release from the history of this checkout, to run it with the packages installed
 * here. Throws when the history does not reach back far enough: without that program, updates cannot be tested.
 */
export async function previousReleaseProgram(): Promise<Program> {
  await run('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root }).catch((cause: unknown) => {
    const way = 'fetch the whole history: git fetch --unshallow';
    throw new Error(`the previous release, commit ${commit}, is not in the history of this checkout; ${way}`, {
      cause,
    });
  });
  const directory = join(await temporaryDirectory(), 'previous-release');
  const archive = `${directory}.tar`;
  await mkdir(directory);
  await run('git', ['archive', '--output', archive, commit, 'src', 'package.json'], { cwd: root });
  await run('tar', ['--extract', '--file', archive, '--directory', directory]);
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'));
  return { node: process.execPath, launcher: join(directory, 'src', 'heddle.js'), user: {} };
}
