import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values } = parseArgs({ options: { out: { type: 'string', default: join(root, 'dist-image') } } });

writeContext(resolve(values.out));

/** Writes what `docker build` needs to make the image: the built program, the lists of its packages, the Dockerfile. */
function writeContext(out: string): void {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(join(out, 'src'), { recursive: true });
  for (const file of ['package.json', 'package-lock.json', '.npmrc', 'LICENSE', 'src/heddle.js'])
    cpSync(join(root, file), join(out, file));
  build(join(out, 'dist'));
  cpSync(join(root, 'src/gen/image/.dockerignore'), join(out, '.dockerignore'));
  writeFileSync(join(out, 'Dockerfile'), dockerfile());
  const shown = relative(process.cwd(), out) || '.';
  console.log(`wrote ${shown}; build the image with \`docker build --tag heddle:${manifest().version} ${shown}\``);
}

function build(out: string): void {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
  const args = [compiler, '--project', join(root, 'tsconfig.build.json'), '--outDir', out];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) throw new Error('the program cannot be built; `npm run check` shows why');
  // What writes files into a checkout has nothing to do in an image.
  rmSync(join(out, 'gen'), { recursive: true });
}

/** The Dockerfile with the versions that belong to this checkout. */
function dockerfile(): string {
  const { version, node } = manifest();
  return readFileSync(join(root, 'src/gen/image/Dockerfile'), 'utf8')
    .replace(/^ARG NODE_VERSION=.*$/m, `ARG NODE_VERSION=${node}`)
    .replace(/^ARG HEDDLE_VERSION=.*$/m, `ARG HEDDLE_VERSION=${version}`);
}

/** The version of the program, and of the Node that it is tested with. */
function manifest(): { readonly version: string; readonly node: string } {
  const { version, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly version: string;
    readonly optionalDependencies: { readonly node: string };
  };
  return { version, node: optionalDependencies.node };
}
