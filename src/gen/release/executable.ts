import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { programVersion } from '../../version.ts';
import { billOfMaterials } from './bill.ts';
import { emptyOut, refuse } from './out.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const boot = join(root, 'src/gen/release/executable/boot.cjs');
const { values } = parseArgs({ options: { out: { type: 'string', default: join(root, 'dist-executable') } } });

if (process.platform === 'linux') await writeExecutable(resolve(values.out));
else
  refuse(
    'An executable is made on Linux, for the kind of machine that makes it; elsewhere use the package: `npm pack`.',
  );

/** Writes the program with its Node as one file, the bill of materials, the licences, and the digests of all. */
async function writeExecutable(out: string): Promise<void> {
  emptyOut(out, 'SHA256SUMS');
  // The bundler begins with a library of its own for the system.
  const { licencesFile, writeProgram } = await import('./program.ts');
  const work = mkdtempSync(join(tmpdir(), 'heddle-executable-'));
  const name = `heddle-${programVersion()}-linux-${process.arch}`;
  try {
    const program = join(work, 'program');
    const { files, packages } = await writeProgram(program);
    const blob = makeBlob(work, Object.fromEntries(files.map((file) => [file, join(program, file)])));
    inject(blob, join(out, name));
    copyFileSync(join(program, licencesFile), join(out, licencesFile));
    appendFileSync(join(out, licencesFile), licenceOfNode());
    writeFileSync(join(out, `${name}.cdx.json`), `${JSON.stringify(billOfMaterials(packages), null, 2)}\n`);
  } finally {
    rmSync(work, { recursive: true });
  }
  const written = [name, `${name}.cdx.json`, licencesFile];
  writeFileSync(join(out, 'SHA256SUMS'), written.map((file) => `${digestOf(join(out, file))}  ${file}\n`).join(''));
  console.log(`wrote ${relative('', join(out, name))}`);
}

/** What Node finds inside itself: how to start, and the files of the program. */
function makeBlob(work: string, assets: Readonly<Record<string, string>>): string {
  const output = join(work, 'blob');
  const config = { main: boot, output, disableExperimentalSEAWarning: true, assets: { ...assets, 'boot.cjs': boot } };
  writeFileSync(join(work, 'config.json'), JSON.stringify(config));
  run([`--experimental-sea-config`, join(work, 'config.json')]);
  return output;
}

/** A copy of the Node that runs this, with the blob in it. */
function inject(blob: string, path: string): void {
  copyFileSync(process.execPath, path);
  const postject = join(dirname(createRequire(import.meta.url).resolve('postject/package.json')), 'dist/cli.js');
  // By this text in itself Node knows that it has a blob.
  run([postject, path, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2']);
  chmodSync(path, 0o755);
}

function run(words: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the executable cannot be made: ${stdout}${stderr}`);
}

function digestOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** What is in the executable besides the packages, and asks to be shown with every copy as they do. */
function licenceOfNode(): string {
  const folder = join(dirname(process.execPath), '..');
  // In what is published for downloads, and in the packages of npm.
  const places = ['LICENSE', `node_modules/node-${process.platform}-${process.arch}/LICENSE`];
  const place = places.map((path) => join(folder, path)).find((path) => existsSync(path));
  if (place === undefined)
    refuse(`The licence of Node is not beside ${process.execPath}; build with a Node as nodejs.org or npm publish it.`);
  const line = '-'.repeat(80);
  return `\n${line}\n\nNode.js ${process.versions.node}\n\n${readFileSync(place, 'utf8').trim()}\n`;
}
