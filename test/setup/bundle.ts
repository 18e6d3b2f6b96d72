import { copyFileSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundle, programEntries } from '../../src/gen/release/bundle.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Modules that test processes import, and modules that the program finds by a path at run time. */
const entries = [
  ...programEntries,
  'src/app.ts',
  'src/cli/program.ts',
  'src/cli/server/serve.ts',
  'src/db/database.ts',
  'src/db/embedded/directory-lock.ts',
  'src/db/embedded/embedded.ts',
  'src/db/migrate.ts',
  'src/db/postgres.ts',
  'test/faults/applier.ts',
  'test/faults/holder.ts',
  'test/faults/keeper.ts',
] as const;

type Entry = (typeof entries)[number] | 'src/heddle.js';

/**
 * Bundles the program once for all processes that a test run starts, with the layout of a published package. Finding,
 * reading and linking its 1,900 modules would cost each process half a second of CPU time, most of its short life.
 */
export async function bundleProgram(directory: string): Promise<void> {
  mkdirSync(join(directory, 'src'), { recursive: true });
  for (const file of ['package.json', 'src/heddle.js']) copyFileSync(join(root, file), join(directory, file));
  await bundle(entries, join(directory, 'dist'));
  process.env['HEDDLE_TEST_PROGRAM'] = directory;
}

/**
 * Returns the URL of a program file: in the bundle of this run, or in the checkout when no run is active, as in
 * benchmarks.
 */
export function programFile(entry: Entry): URL {
  const directory = process.env['HEDDLE_TEST_PROGRAM'];
  if (directory === undefined) return pathToFileURL(join(root, entry));
  const path = entry === 'src/heddle.js' ? entry : join('dist', `${nameOf(entry)}.js`);
  return pathToFileURL(join(directory, path));
}

function nameOf(entry: string): string {
  return basename(entry, '.ts');
}

/** Returns the path of the script that `node` runs to start the program. */
export function launcherPath(): string {
  return fileURLToPath(programFile('src/heddle.js'));
}
