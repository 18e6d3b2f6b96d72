import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Program } from './heddle.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The context of the image with the packages that building it would install, and a place to write to. */
export interface Image extends Disposable {
  /** What `npm run image` wrote, and `node_modules`. */
  readonly context: string;
  /** The program in it, run by somebody who may not write there. */
  readonly program: Program;
  /** A fresh directory of the user who runs the program. */
  directory(): string;
}

/** Writes the context and does to it what the Dockerfile does, without Docker. */
export function makeImage(): Image {
  const home = mkdtempSync(join(tmpdir(), 'heddle-image-'));
  const context = join(home, 'app');
  const written = spawnSync(process.execPath, ['src/gen/image.ts', '--out', context], { cwd: root, encoding: 'utf8' });
  if (written.status !== 0) throw new Error(`${written.stdout}${written.stderr}`);
  copyPackages(context);
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

/** The packages that `npm ci --omit=dev --omit=optional` would install, and no others. */
function copyPackages(context: string): void {
  const { packages } = JSON.parse(readFileSync(join(context, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: true; readonly optional?: true }>>;
  };
  for (const [path, { dev, optional }] of Object.entries(packages)) {
    if (path === '' || dev === true || optional === true) continue;
    mkdirSync(join(context, path), { recursive: true });
    cpSync(join(root, path), join(context, path), {
      recursive: true,
      // Packages inside a package have entries of their own.
      filter: (source) => !source.slice(join(root, path).length).includes('node_modules'),
    });
  }
}

/** Root becomes the user of the image; anybody else stays who they are. */
function outsider(): Program['user'] {
  return process.getuid?.() === 0 ? { uid: 1000, gid: 1000 } : {};
}

function foldersOf(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [folder, ...entries.map((entry) => join(entry.parentPath, entry.name))];
}
