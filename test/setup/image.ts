import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Program } from './heddle.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The build context of the image, and writable directories. */
export interface Image extends Disposable {
  /** Path of the context that `npm run image` wrote. */
  readonly context: string;
  /** The program in it, run by somebody who may not write there. */
  readonly program: Program;
  /** Creates a directory owned by the user who runs the program, and returns its path. */
  directory(): string;
}

/** Writes the build context and makes it read-only, as in the image. */
export function makeImage(): Image {
  const home = mkdtempSync(join(tmpdir(), 'heddle-image-'));
  const context = join(home, 'app');
  const written = spawnSync('sh', builtBySomeoneCareful(['src/gen/release/image.ts', '--out', context]), {
    cwd: root,
    encoding: 'utf8',
  });
  if (written.status !== 0) throw new Error(`${written.stdout}${written.stderr}`);
  const user = outsider();
  // The Node binary is copied because another user may be unable to read its original location.
  const node = join(home, 'node');
  copyFileSync(process.execPath, node);
  chmodSync(home, 0o755);
  for (const path of foldersOf(context)) chmodSync(path, 0o555);
  return {
    context,
    program: { node, launcher: join(context, 'src/heddle.js'), user },
    directory() {
      const directory = mkdtempSync(join(home, 'writable-'));
      if (user.uid !== undefined && user.gid !== undefined) chownSync(directory, user.uid, user.gid);
      return directory;
    },
    [Symbol.dispose]() {
      for (const path of foldersOf(context)) chmodSync(path, 0o755);
      rmSync(home, { recursive: true });
    },
  };
}

/**
 * Returns arguments of `sh` that run a script of this checkout with umask 077. Other users can then not read the files
 * that it writes, unless the script sets their modes.
 */
export function builtBySomeoneCareful(words: readonly string[]): readonly string[] {
  return ['-c', 'umask 077; exec "$@"', 'sh', process.execPath, ...words];
}

/** Returns the user of the image when the tests run as root, otherwise the current user. */
function outsider(): Program['user'] {
  return process.getuid?.() === 0 ? { uid: 1000, gid: 1000 } : {};
}

function foldersOf(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [folder, ...entries.map((entry) => join(entry.parentPath, entry.name))];
}
