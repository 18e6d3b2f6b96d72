import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { unzipSync } from 'fflate';
import { cache } from '../setup/cache.ts';

/**
 * Toolchain archives that a Go module proxy serves, by `process.platform` and `process.arch` of Node, with their
 * SHA-256.
 */
const version = '1.26.8';
const archives: Readonly<Record<string, { readonly platform: string; readonly sha256: string }>> = {
  'linux-x64': {
    platform: 'linux-amd64',
    sha256: '30c2b1bf7dcc88d3eb0a1364e47ddd9128edb3110a30e8a0ef61cd5856b31de7',
  },
  'linux-arm64': {
    platform: 'linux-arm64',
    sha256: '02b36b6787b3ac767668f630e2998df45a3b1f9ffee08d1bf3ef6487cd658d99',
  },
};

/**
 * Returns the folder that contains the `go` program, and downloads Go unless it is there already. For machines without
 * Go, such as those of .ci/run.
 */
async function installGo(): Promise<string> {
  const found = archives[`${process.platform}-${process.arch}`];
  if (found === undefined)
    throw new Error(`there is no Go to download for ${process.platform} ${process.arch}; install Go ${version}`);
  const folder = join(cache, `go-${version}`);
  if (existsSync(folder)) return join(folder, 'bin');
  const url = `${moduleProxy()}/golang.org/toolchain/@v/v0.0.1-go${version}.${found.platform}.zip`;
  const response = await fetch(url, { signal: AbortSignal.timeout(300_000) }).catch((error: unknown) => {
    throw new Error(
      `${url}: ${error instanceof Error ? (error.cause ?? error) : error}; install Go ${version}, or name a module proxy in GOPROXY`,
    );
  });
  if (!response.ok)
    throw new Error(`${url} answered ${response.status}; install Go ${version}, or name a module proxy in GOPROXY`);
  const archive = new Uint8Array(await response.arrayBuffer());
  const sha256 = createHash('sha256').update(archive).digest('hex');
  if (sha256 !== found.sha256) throw new Error(`${url} has the SHA-256 ${sha256}, and not ${found.sha256}`);
  await unpack(archive, folder);
  return join(folder, 'bin');
}

/** Returns the first HTTP address in GOPROXY, in the format that `go` reads, or `https://proxy.golang.org`. */
function moduleProxy(): string {
  const named = (process.env['GOPROXY'] ?? '').split(/[,|]/).find((one) => /^https?:/.test(one));
  return (named ?? 'https://proxy.golang.org').replace(/\/+$/, '');
}

/** Unpacks to a temporary folder and renames it, so that an incomplete Go is never used. */
async function unpack(archive: Uint8Array, folder: string): Promise<void> {
  const unfinished = `${folder}.${process.pid}`;
  for (const [name, bytes] of Object.entries(unzipSync(archive))) {
    // Each name in the archive begins with the module path and version.
    const file = join(unfinished, name.replace(/^[^@]*@[^/]*\//, ''));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, bytes);
    if (/\/(bin|pkg\/tool)\//.test(name)) await chmod(file, 0o755);
  }
  await rename(unfinished, folder).catch(async (error: unknown) => {
    await rm(unfinished, { recursive: true, force: true });
    // Another process may have installed the same version first.
    if (!existsSync(folder)) throw error;
  });
}

try {
  process.stdout.write(`${await installGo()}\n`);
} catch (error) {
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
