import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asObject, asObjects, type JsonObject } from '../../src/lib/json.ts';
import type { Program } from './heddle.ts';
import { builtBySomeoneCareful } from './image.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** An executable's container image, as an OCI layout on disk. */
export interface Layout {
  readonly folder: string;
  readonly manifest: JsonObject;
  readonly configuration: JsonObject;
}

/** Creates the image layout of an executable, in a new folder next to it. Throws when the generator fails. */
export function makeLayout(executable: string): Layout {
  const folder = mkdtempSync(`${executable}-layout-`);
  const words = ['src/gen/release/layout.ts', '--out', folder, '--executables', dirname(executable)];
  const { status, stdout, stderr } = spawnSync('sh', builtBySomeoneCareful(words), { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${stdout}${stderr}`);
  const [listed] = asObjects(readObject(join(folder, 'index.json'))['manifests']);
  const manifest = readObject(blobOf(folder, listed));
  return { folder, manifest, configuration: readObject(blobOf(folder, asObject(manifest['config']))) };
}

/** Returns the path of the blob that a descriptor refers to. */
export function blobOf(folder: string, descriptor: JsonObject | undefined): string {
  return join(folder, 'blobs', String(descriptor?.['digest']).replace(':', '/'));
}

/**
 * Unpacks the layout and returns its program as a container engine runs it: the layers on top of each other as a
 * read-only root file system, run as the image's user. Where the machine does not permit that, the program is the file
 * in the unpacked tree.
 */
export function unpackLayout({ folder, manifest }: Layout): Program {
  const tree = `${folder}-tree`;
  execFileSync('mkdir', [tree]);
  for (const layer of asObjects(manifest['layers']))
    execFileSync('tar', ['-xzpf', blobOf(folder, layer), '--numeric-owner', '-C', tree], { stdio: 'pipe' });
  const mayMount = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;
  if (!mayMount) return { node: join(tree, 'usr/local/bin/heddle'), launcher: undefined, user: {} };
  const script = join(dirname(tree), 'run-image');
  writeFileSync(script, entering(tree));
  chmodSync(script, 0o755);
  return { node: script, launcher: undefined, user: {} };
}

function entering(tree: string): string {
  return `#!/bin/sh
PATH="$PATH:/usr/sbin:/sbin"
exec unshare --mount --propagation private sh -euc '
  mount --bind ${tree} ${tree}
  mount -o remount,ro,bind ${tree}
  mount -t tmpfs -o mode=1777 tmpfs ${tree}/tmp
  mount -t tmpfs -o uid=1000,gid=1000,mode=700 tmpfs ${tree}/var/lib/heddle
  mount --rbind /proc ${tree}/proc
  mount --rbind /dev ${tree}/dev
  exec chroot --userspec=1000:1000 ${tree} /usr/local/bin/heddle "$@"
' heddle "$@"
`;
}

function readObject(path: string): JsonObject {
  return asObject(JSON.parse(readFileSync(path, 'utf8')));
}
