import { copyFileSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundle, programEntries } from '../../src/gen/release/bundle.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What processes of tests import, and what the program finds by a path at run time. */
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
 * Bundles the program once for all processes that a run starts, laid out like a published package. To find, read and link
 * its 1,900 modules would take every one of them half a second of CPU, most of a short life.
 */
export async function bundleProgram(directory: string): Promise<void> {
  mkdirSync(join(directory, 'src'), { recursive: true });
  for (const file of ['package.json', 'src/heddle.js']) copyFileSync(join(root, file), join(directory, file));
  await bundle(entries, join(directory, 'dist'));
  process.env['HEDDLE_TEST_PROGRAM'] = directory;
}

/** Where a process finds a file of the program: in the bundle of this run; outside of runs, as in benchmarks, in the checkout. */
export function programFile(entry: Entry): URL {
  const directory = process.env['HEDDLE_TEST_PROGRAM'];
  if (directory === undefined) return pathToFileURL(join(root, entry));
  const path = entry === 'src/heddle.js' ? entry : join('dist', `${nameOf(entry)}.js`);
  return pathToFileURL(join(directory, path));
}

function nameOf(entry: string): string {
  return basename(entry, '.ts');
}

/** What `node` is given to run the program. */
export function launcherPath(): string {
  return fileURLToPath(programFile('src/heddle.js'));
}
