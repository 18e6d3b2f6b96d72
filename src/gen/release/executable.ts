import { spawnSync } from 'node:child_process';
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
import { billOfMaterials, digestOf } from './bill.ts';
import { exitWithError, prepareOutputFolder } from './out.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const boot = join(root, 'src/gen/release/executable/boot.cjs');
const { values } = parseArgs({ options: { out: { type: 'string', default: join(root, 'dist-executable') } } });

if (process.platform === 'linux') await writeExecutable(resolve(values.out));
else
  exitWithError(
    'An executable can only be built on Linux, for the kind of machine that builds it; elsewhere use the package: `npm pack`.',
  );

/**
 * Writes the executable, which is Node with the program inside, its bill of materials, the licences, and the checksums
 * of all three.
 */
async function writeExecutable(out: string): Promise<void> {
  prepareOutputFolder(out, 'SHA256SUMS');
  // Imported on demand, because importing the bundler loads a native library.
  const { licencesFile, writeProgram } = await import('./program.ts');
  const work = mkdtempSync(join(tmpdir(), 'heddle-executable-'));
  const name = `heddle-${programVersion()}-linux-${process.arch}`;
  try {
    const program = join(work, 'program');
    const { files, packages } = await writeProgram(program);
    const blob = makeBlob(work, Object.fromEntries(files.map((file) => [file, join(program, file)])));
    injectBlob(blob, join(out, name));
    copyFileSync(join(program, licencesFile), join(out, licencesFile));
    appendFileSync(join(out, licencesFile), licenceOfNode());
    const bill = billOfMaterials(join(out, name), packages);
    writeFileSync(join(out, `${name}.cdx.json`), `${JSON.stringify(bill, null, 2)}\n`);
  } finally {
    rmSync(work, { recursive: true });
  }
  const written = [name, `${name}.cdx.json`, licencesFile];
  writeFileSync(join(out, 'SHA256SUMS'), written.map((file) => `${digestOf(join(out, file))}  ${file}\n`).join(''));
  console.log(`wrote ${relative('', join(out, name))}`);
}

/**
 * Writes the blob that Node finds inside the executable: the boot module, and the files of the program. Returns the
 * blob's path.
 */
function makeBlob(work: string, assets: Readonly<Record<string, string>>): string {
  const output = join(work, 'blob');
  const config = { main: boot, output, disableExperimentalSEAWarning: true, assets: { ...assets, 'boot.cjs': boot } };
  writeFileSync(join(work, 'config.json'), JSON.stringify(config));
  runNode([`--experimental-sea-config`, join(work, 'config.json')]);
  return output;
}

/** Copies the running Node to `path` and adds the blob to it. */
function injectBlob(blob: string, path: string): void {
  copyFileSync(process.execPath, path);
  const postject = join(dirname(createRequire(import.meta.url).resolve('postject/package.json')), 'dist/cli.js');
  // postject sets this fuse in the binary, by which Node knows that it contains a blob.
  runNode([postject, path, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2']);
  chmodSync(path, 0o755);
}

function runNode(words: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the executable cannot be made: ${stdout}${stderr}`);
}

/**
 * Returns the licence of Node. The executable contains Node in addition to the packages, and its licence must also
 * accompany every copy.
 */
function licenceOfNode(): string {
  const folder = join(dirname(process.execPath), '..');
  // Paths in the downloads of nodejs.org, and in the npm packages of Node.
  const candidates = ['LICENSE', `node_modules/node-${process.platform}-${process.arch}/LICENSE`];
  const licence = candidates.map((path) => join(folder, path)).find((path) => existsSync(path));
  if (licence === undefined)
    exitWithError(
      `The licence of Node is not next to ${process.execPath}; build with a Node that nodejs.org or npm publish.`,
    );
  const line = '-'.repeat(80);
  return `\n${line}\n\nNode.js ${process.versions.node}\n\n${readFileSync(licence, 'utf8').trim()}\n`;
}
