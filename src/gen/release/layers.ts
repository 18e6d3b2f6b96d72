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

/** A part of the file system of an image. */
export interface Layer {
  /** How it was made, for its history. */
  readonly what: string;
  /** The folder that has its files, and the paths in it that belong to the layer. */
  readonly folder: string;
  readonly paths: readonly string[];
  /** The user and the group that own all of it. */
  readonly owner: number;
}

/** Besides the program: Git for sources, ssh for Git, the shell that Git starts ssh with, `sleep` for the chart. */
const tools = ['git', 'ssh', 'sh', 'sleep'];

/**
 * The smallest system that the program and Git run on: their libraries, and files that say who the user is and how names
 * are found. All of it is from the machine that makes the image, so that nothing is fetched.
 */
export function fillBase(folder: string): Layer {
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
  return { what: 'libraries, git and ssh of the machine that built the image', folder, paths: ['.'], owner: 0 };
}

/** The data directory, which is of the user that the program runs as, and of no other. */
export function fillData(folder: string): Layer {
  mkdirSync(join(folder, 'var/lib/heddle'), { recursive: true, mode: 0o700 });
  return { what: 'the data directory', folder, paths: ['var/lib/heddle'], owner: 1000 };
}

/** The single executable. */
export function fillProgram(folder: string, executable: string): Layer {
  const path = join(folder, 'usr/local/bin/heddle');
  mkdirSync(dirname(path), { recursive: true });
  copyFileSync(executable, path);
  chmodSync(path, 0o755);
  return { what: basename(executable), folder, paths: ['usr/local'], owner: 0 };
}

/** The layer as a tar that is the same whenever it is made of the same files. */
export function tarOf({ folder, paths, owner }: Layer): Buffer {
  const owned = [`--owner=${owner}`, `--group=${owner}`, '--numeric-owner', '--mtime=@0', '--sort=name'];
  const words = ['--create', '--format=gnu', ...owned, '--directory', folder, ...paths];
  return execFileSync('tar', words, { maxBuffer: 1024 * 1024 * 1024 });
}

/** Where a program is on this machine, with what it starts itself; nothing when it is not installed. */
function findTool(name: string): readonly string[] {
  const { status, stdout } = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' });
  if (status !== 0) return [];
  const path = stdout.trim();
  if (name !== 'git') return [path];
  const folder = execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim();
  return [path, ...['git-remote-http', 'git-remote-https'].map((helper) => join(folder, helper)).filter(existsSync)];
}

/** The libraries that the loader reads for a program, and the loader. */
function librariesOf(path: string): readonly string[] {
  const { stdout } = spawnSync('ldd', [path], { encoding: 'utf8' });
  const missing = /^\s*(\S+) => not found/m.exec(stdout)?.[1];
  if (missing !== undefined) throw new Error(`${path} needs ${missing}, which is not on this machine`);
  return [...stdout.matchAll(/(?<=^\s*|=> )(\/\S+)(?= \(0x)/gm)].map(([, library = '']) => library);
}

/** Copies a file to its path in the image; folders on the way that are links elsewhere are followed. */
function copy(folder: string, path: string): void {
  const target = join(folder, realpathSync(dirname(path)), basename(path));
  mkdirSync(dirname(target), { recursive: true });
  cpSync(realpathSync(path), target);
}

/** `/lib` and its like are links into `/usr` on most systems: the same in the image. */
function copyLink(folder: string, path: string): void {
  if (existsSync(path) && lstatSync(path).isSymbolicLink()) {
    symlinkSync(readlinkSync(path), join(folder, path));
    mkdirSync(join(folder, 'usr', basename(path)), { recursive: true });
  }
}
