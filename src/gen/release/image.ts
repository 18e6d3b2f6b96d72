import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { prepareOutputFolder } from './out.ts';
import { writeProgram } from './program.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const { values } = parseArgs({ options: { out: { type: 'string', default: join(root, 'dist-image') } } });

await writeBuildContext(resolve(values.out));

/** Writes the input of `docker build`: the built program and the Dockerfile. */
async function writeBuildContext(out: string): Promise<void> {
  prepareOutputFolder(out, 'Dockerfile');
  mkdirSync(join(out, 'src'));
  for (const file of ['package.json', 'LICENSE', 'src/heddle.js']) cpSync(join(root, file), join(out, file));
  await writeProgram(join(out, 'dist'));
  cpSync(join(root, 'src/gen/release/image/.dockerignore'), join(out, '.dockerignore'));
  writeFileSync(join(out, 'Dockerfile'), dockerfile());
  const shown = relative('', out) || '.';
  console.log(`wrote ${shown}; build the image with \`docker build --tag heddle:${readVersions().version} ${shown}\``);
}

/** Returns the Dockerfile with the versions of this checkout. */
function dockerfile(): string {
  const { version, node } = readVersions();
  return readFileSync(join(root, 'src/gen/release/image/Dockerfile'), 'utf8')
    .replace(/^ARG NODE_VERSION=.*$/m, `ARG NODE_VERSION=${node}`)
    .replace(/^ARG HEDDLE_VERSION=.*$/m, `ARG HEDDLE_VERSION=${version}`);
}

/** Returns the version of the program, and the version of Node that it is tested with. */
function readVersions(): { readonly version: string; readonly node: string } {
  const { version, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly version: string;
    readonly optionalDependencies: { readonly node: string };
  };
  return { version, node: optionalDependencies.node };
}
