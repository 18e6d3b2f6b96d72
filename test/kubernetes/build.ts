import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cache } from '../setup/cache.ts';

const run = promisify(execFile);
const module = fileURLToPath(new URL('./apiserver', import.meta.url));

/**
 * Returns the path of the API server's binary, and compiles it unless a binary of the same sources exists. Throws an
 * error with a readable message when it cannot be built.
 */
export async function buildServer(): Promise<string> {
  const binary = join(cache, `apiserver-${await digestOfSources()}`);
  if (existsSync(binary)) return binary;
  await requireGo();
  await mkdir(cache, { recursive: true });
  process.stderr.write('compiling a Kubernetes API server, once: this takes some minutes\n');
  const unfinished = `${binary}.${process.pid}`;
  // Runs at low priority, because the machine may be in use by a developer.
  await run('nice', ['go', 'build', '-trimpath', '-ldflags', await linkerFlags(), '-o', unfinished, '.'], {
    cwd: module,
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false' },
    maxBuffer: 16 * 1024 * 1024,
  });
  await rename(unfinished, binary);
  return binary;
}

async function digestOfSources(): Promise<string> {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(await readFile(join(module, file)));
  return hash.digest('hex').slice(0, 16);
}

/**
 * Returns linker flags that set the version. Without them, the server reports version 0 of Kubernetes and refuses its
 * own defaults.
 */
async function linkerFlags(): Promise<string> {
  const manifest = await readFile(join(module, 'go.mod'), 'utf8');
  const version = /k8s\.io\/kubernetes v(\d+)\.(\d+)\.\d+/.exec(manifest);
  if (version === null) throw new Error('go.mod requires no k8s.io/kubernetes');
  const [, major, minor] = version;
  const values = { gitVersion: version[0].split(' ')[1], gitMajor: major, gitMinor: minor };
  const settings = Object.entries(values).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  return ['-s', '-w', ...settings].join(' ');
}

async function requireGo(): Promise<void> {
  const found = await run('go', ['version']).catch(() => undefined);
  if (found !== undefined) return;
  throw new Error(
    'the tests on a Kubernetes API server compile one with Go, and there is no `go` on the PATH; install Go 1.26 or later (https://go.dev/dl), or put the folder on the PATH that `npm run --silent install-go` downloads it to and prints, and run `npm run test:kubernetes` again',
  );
}
