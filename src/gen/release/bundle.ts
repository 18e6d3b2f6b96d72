import { copyFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type OutputChunk, rolldown } from 'rolldown';
import { groupModulesByStart } from './together.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Entry modules of the launcher and of threads. All other modules are imported from these. */
export const programEntries = [
  'src/main.ts',
  'src/documents/threads/worker.ts',
  'src/db/leases/lease-worker.ts',
] as const;

/** Files that the embedded database reads from the folder of its own modules. */
const databaseFiles = ['pglite.wasm', 'pglite.data', 'initdb.wasm'] as const;

/** The program with everything that it imports, in one flat folder. */
export interface Bundle {
  /** Names of the bundle's files. */
  readonly files: readonly string[];
  /** Folders of the packages that the bundle contains code of, such as `node_modules/pg`. */
  readonly packages: readonly string[];
}

/** Bundles the entry modules, and everything that they import, into a folder. The entry `src/a/b.ts` becomes `b.js`. */
export async function bundle(entries: readonly string[], folder: string): Promise<Bundle> {
  const build = await rolldown({
    cwd: root,
    preserveEntrySignatures: 'allow-extension',
    input: Object.fromEntries(entries.map((path) => [basename(path, '.ts'), path])),
    platform: 'node',
    // `pg` tries to load this package, and works without it.
    external: ['pg-native'],
    // Warnings are of no use here: dependencies are bundled unchanged, and a missing module is an error anyway.
    logLevel: 'silent',
  });
  const groups = groupModulesByStart(root);
  const codeSplitting = { groups, includeDependenciesRecursively: false };
  const { output } = await build.write({
    dir: folder,
    format: 'esm',
    codeSplitting,
    // A short command spends a good part of its time on loading its files. It does not need the comments (the licences
    // are in a file of their own), and V8 takes twice the memory for a text with characters that are not ASCII.
    comments: false,
    charset: 'ascii',
  });
  await build.close();
  for (const name of databaseFiles)
    copyFileSync(join(root, 'node_modules/@electric-sql/pglite/dist', name), join(folder, name));
  const chunks = output.filter((file): file is OutputChunk => file.type === 'chunk');
  return {
    files: [...chunks.map(({ fileName }) => fileName), ...databaseFiles],
    packages: [...new Set(chunks.flatMap(({ moduleIds }) => moduleIds.flatMap(packageOf)))].sort(),
  };
}

/** Returns the folder of the package that contains a module. Empty for modules of the program and of the bundler. */
function packageOf(module: string): readonly string[] {
  const [, folder] = /^.*?(node_modules\/.*)$/.exec(module.replaceAll('\\', '/')) ?? [];
  if (folder === undefined) return [];
  const at = folder.lastIndexOf('node_modules/') + 'node_modules/'.length;
  const names = folder.slice(at).split('/');
  const name = names.slice(0, names[0]?.startsWith('@') ? 2 : 1).join('/');
  return [join(folder.slice(0, at), name)];
}
