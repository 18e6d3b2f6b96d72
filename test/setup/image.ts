import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Program } from './heddle.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The context of the image, and a place to write to. */
export interface Image extends Disposable {
  /** What `npm run image` wrote. */
  readonly context: string;
  /** The program in it, run by somebody who may not write there. */
  readonly program: Program;
  /** A fresh directory of the user who runs the program. */
  directory(): string;
}

/** Writes the context, which nobody can write to then, as in the image. */
export function makeImage(): Image {
  const home = mkdtempSync(join(tmpdir(), 'heddle-image-'));
  const context = join(home, 'app');
  const written = spawnSync('sh', builtBySomeoneCareful(['src/gen/release/image.ts', '--out', context]), {
    cwd: root,
    encoding: 'utf8',
  });
  if (written.status !== 0) throw new Error(`${written.stdout}${written.stderr}`);
  const user = outsider();
  // The repository may lie where another user cannot read.
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

/** Words of `sh` by which a script of this checkout runs whose files nobody else could read, unless it sees to that. */
export function builtBySomeoneCareful(words: readonly string[]): readonly string[] {
  return ['-c', 'umask 077; exec "$@"', 'sh', process.execPath, ...words];
}

/** Root becomes the user of the image; anybody else stays who they are. */
function outsider(): Program['user'] {
  return process.getuid?.() === 0 ? { uid: 1000, gid: 1000 } : {};
}

function foldersOf(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [folder, ...entries.map((entry) => join(entry.parentPath, entry.name))];
}
