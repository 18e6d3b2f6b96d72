import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** URL of an unreachable registry: nothing listens on the port. */
const noRegistry = 'http://127.0.0.1:9/';

/** The package as installed by a user from its file, in an empty folder. */
export interface InstalledPackage extends AsyncDisposable {
  /** Path of the packed file. */
  readonly archive: string;
  /** Folder that contains `node_modules`. */
  readonly folder: string;
  /** Paths of the package's files, relative to the package, with `/` between names. */
  readonly files: readonly string[];
  /** Environment of a machine that cannot reach a registry. */
  readonly env: NodeJS.ProcessEnv;
  /** Runs an npm command in the folder, without a registry. */
  npm(...words: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }>;
}

/** Packs the checkout with `npm pack` and installs the file in an empty folder, without a registry. */
export async function installPackage(): Promise<InstalledPackage> {
  const home = await mkdtemp(join(tmpdir(), 'heddle-package-'));
  await run('npm', ['pack', '--silent', '--pack-destination', home], { cwd: root });
  const [packed = ''] = await readdir(home);
  const env = {
    ...process.env,
    ...{ npm_config_registry: noRegistry, npm_config_cache: join(home, 'cache'), npm_config_fetch_retries: '0' },
    // The current Node comes first, as on the machine of a user who has that version.
    PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
  };
  const folder = join(home, 'empty');
  const npm: InstalledPackage['npm'] = (...words) => run('npm', [...words], { cwd: folder, env });
  await mkdir(folder);
  await npm('install', '--no-audit', '--no-fund', join(home, packed));
  // Lets other users run the package.
  await chmod(home, 0o755);
  const below = join(folder, 'node_modules/heddle');
  const entries = await readdir(below, { recursive: true, withFileTypes: true });
  return {
    archive: join(home, packed),
    folder,
    files: entries
      .filter((entry) => entry.isFile())
      .map((entry) =>
        join(entry.parentPath, entry.name)
          .slice(below.length + 1)
          .replaceAll('\\', '/'),
      ),
    env,
    npm,
    [Symbol.asyncDispose]: () => rm(home, { recursive: true }),
  };
}
