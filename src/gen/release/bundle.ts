import { copyFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type OutputChunk, rolldown } from 'rolldown';
import { togetherByStart } from './together.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** What a launcher and threads start with; everything else is imported from there. */
export const programEntries = [
  'src/main.ts',
  'src/documents/threads/worker.ts',
  'src/db/leases/lease-worker.ts',
] as const;

/** What the embedded database reads from beside its own modules. */
const databaseFiles = ['pglite.wasm', 'pglite.data', 'initdb.wasm'] as const;

/** A program with everything that it imports, in one flat folder. */
export interface Bundle {
  /** The names of its files. */
  readonly files: readonly string[];
  /** The folders of the packages that it has something of, such as `node_modules/pg`. */
  readonly packages: readonly string[];
}

/** Bundles what begins at these files of the checkout into a folder: an entry `src/a/b.ts` becomes `b.js`. */
export async function bundle(entries: readonly string[], folder: string): Promise<Bundle> {
  const build = await rolldown({
    cwd: root,
    preserveEntrySignatures: 'allow-extension',
    input: Object.fromEntries(entries.map((path) => [basename(path, '.ts'), path])),
    platform: 'node',
    // `pg` looks for it and does without it.
    external: ['pg-native'],
    // Dependencies are bundled as they are; what is missing is an error anyway.
    logLevel: 'silent',
  });
  const groups = togetherByStart(root);
  const codeSplitting = { groups, includeDependenciesRecursively: false };
  const { output } = await build.write({ dir: folder, format: 'esm', codeSplitting });
  await build.close();
  for (const name of databaseFiles)
    copyFileSync(join(root, 'node_modules/@electric-sql/pglite/dist', name), join(folder, name));
  const chunks = output.filter((file): file is OutputChunk => file.type === 'chunk');
  return {
    files: [...chunks.map(({ fileName }) => fileName), ...databaseFiles],
    packages: [...new Set(chunks.flatMap(({ moduleIds }) => moduleIds.flatMap(packageOf)))].sort(),
  };
}

/** The package that a module is of, none for those of the program and of the bundler. */
function packageOf(module: string): readonly string[] {
  const [, folder] = /^.*?(node_modules\/.*)$/.exec(module.replaceAll('\\', '/')) ?? [];
  if (folder === undefined) return [];
  const at = folder.lastIndexOf('node_modules/') + 'node_modules/'.length;
  const names = folder.slice(at).split('/');
  const name = names.slice(0, names[0]?.startsWith('@') ? 2 : 1).join('/');
  return [join(folder.slice(0, at), name)];
}
