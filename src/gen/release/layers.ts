import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** A layer of the image, which is a part of its file system. */
export interface Layer {
  /** How the layer was made, for the history of the image. */
  readonly createdBy: string;
  /** Folder with the layer's files; below, the paths in this folder that belong to the layer. */
  readonly folder: string;
  readonly paths: readonly string[];
  /** Id of the user and of the group that own all files. */
  readonly owner: number;
}

/**
 * Programs in the image in addition to Heddle: Git for sources, ssh for Git, the shell by which Git starts ssh, and
 * `sleep` for the Helm chart.
 */
const tools = ['git', 'ssh', 'sh', 'sleep'];

/**
 * Creates the smallest system on which the program and Git run: their libraries, and files about users and name
 * resolution. Everything is copied from the machine that builds the image, so that nothing is downloaded.
 */
export function createBaseLayer(folder: string): Layer {
  for (const path of ['usr/bin', 'usr/lib', 'etc/ssl/certs', 'tmp', 'var/lib', 'proc', 'dev', 'sys'])
    mkdirSync(join(folder, path), { recursive: true });
  chmodSync(join(folder, 'tmp'), 0o1777);
  for (const name of ['bin', 'lib', 'lib64']) copyLink(folder, `/${name}`);
  const programs = tools.flatMap(findTool);
  for (const path of [process.execPath, ...programs].flatMap(librariesOf)) copy(folder, path);
  for (const path of programs) copy(folder, path);
  const certificates = '/etc/ssl/certs/ca-certificates.crt';
  if (existsSync(certificates)) copy(folder, certificates);
  writeFileSync(
    join(folder, 'etc/passwd'),
    'root:x:0:0:root:/root:/sbin/nologin\nheddle:x:1000:1000:heddle:/var/lib/heddle:/sbin/nologin\n',
  );
  writeFileSync(join(folder, 'etc/group'), 'root:x:0:\nheddle:x:1000:\n');
  writeFileSync(join(folder, 'etc/nsswitch.conf'), 'hosts: files dns\n');
  return { createdBy: 'libraries, git and ssh of the machine that built the image', folder, paths: ['.'], owner: 0 };
}

/** Creates the data directory, which only the user of the program may access. */
export function createDataLayer(folder: string): Layer {
  mkdirSync(join(folder, 'var/lib/heddle'), { recursive: true, mode: 0o700 });
  return { createdBy: 'the data directory', folder, paths: ['var/lib/heddle'], owner: 1000 };
}

/** Creates the layer with the single executable. */
export function createProgramLayer(folder: string, executable: string): Layer {
  const path = join(folder, 'usr/local/bin/heddle');
  mkdirSync(dirname(path), { recursive: true });
  copyFileSync(executable, path);
  chmodSync(path, 0o755);
  return { createdBy: basename(executable), folder, paths: ['usr/local'], owner: 0 };
}

/** Returns the layer as a tar archive, which is reproducible: the same files give the same bytes. */
export function createTar({ folder, paths, owner }: Layer): Buffer {
  const owned = [`--owner=${owner}`, `--group=${owner}`, '--numeric-owner', '--mtime=@0', '--sort=name'];
  const words = ['--create', '--format=gnu', ...owned, '--directory', folder, ...paths];
  return execFileSync('tar', words, { maxBuffer: 1024 * 1024 * 1024 });
}

/**
 * Returns the path of a program on this machine and, for Git, the paths of the helpers that it starts. Empty when it is
 * not installed.
 */
function findTool(name: string): readonly string[] {
  const { status, stdout } = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' });
  if (status !== 0) return [];
  const path = stdout.trim();
  if (name !== 'git') return [path];
  const folder = execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim();
  return [path, ...['git-remote-http', 'git-remote-https'].map((helper) => join(folder, helper)).filter(existsSync)];
}

/** Returns the libraries that a program loads, and the dynamic loader. Throws when a library is missing. */
function librariesOf(path: string): readonly string[] {
  const { stdout } = spawnSync('ldd', [path], { encoding: 'utf8' });
  const missing = /^\s*(\S+) => not found/m.exec(stdout)?.[1];
  if (missing !== undefined) throw new Error(`${path} needs ${missing}, which is not on this machine`);
  return [...stdout.matchAll(/(?<=^\s*|=> )(\/\S+)(?= \(0x)/gm)].map(([, library = '']) => library);
}

/** Copies a file to the same path in the image. Symbolic links to its directory are resolved. */
function copy(folder: string, path: string): void {
  const target = join(folder, realpathSync(dirname(path)), basename(path));
  mkdirSync(dirname(target), { recursive: true });
  cpSync(realpathSync(path), target);
}

/**
 * Creates the same symbolic link in the image. On most systems, `/lib` and similar directories are links into `/usr`.
 */
function copyLink(folder: string, path: string): void {
  if (existsSync(path) && lstatSync(path).isSymbolicLink()) {
    symlinkSync(readlinkSync(path), join(folder, path));
    mkdirSync(join(folder, 'usr', basename(path)), { recursive: true });
  }
}
