import { join } from 'node:path';
import type { ChunkingContext, CodeSplittingGroup } from 'rolldown';

/**
 * Entry modules of short commands, and of threads and libraries that share modules with these commands but must not
 * load the rest of their modules. By name.
 */
const entryModules: Readonly<Record<string, readonly string[]>> = {
  start: ['src/main.ts', 'src/cli/version.ts'],
  fmt: ['src/cli/offline/fmt.ts'],
  validate: ['src/cli/offline/validate.ts', 'src/cli/offline/offline.ts'],
  reader: ['src/documents/threads/job.ts', 'src/documents/threads/worker-message.ts'],
  leases: ['src/db/database.ts', 'src/db/leases/leases.ts', 'src/db/leases/lease-keeper.ts'],
};

/** Short commands. Modules that none of them needs are left to the bundler. */
const shortCommands = ['start', 'fmt', 'validate'] as const;

/**
 * Modules that are not grouped. They wait for modules that they import later; in a shared file, those would wait for
 * them in turn.
 */
const ungroupedModules: readonly string[] = ['src/main.ts'];

/**
 * Groups modules that the same subset of `entryModules` needs into one file. Finding, reading and linking a file takes
 * half a millisecond whatever its size, and otherwise a command that checks a few documents would load eighty files.
 */
export function groupModulesByStart(root: string): CodeSplittingGroup[] {
  let groups: ReadonlyMap<string, string> | undefined;
  return [
    {
      name: (module, context) => {
        groups ??= buildGroups(root, context);
        return groups.get(module) ?? null;
      },
    },
  ];
}

function buildGroups(root: string, context: ChunkingContext): ReadonlyMap<string, string> {
  const needed = new Map<string, string[]>();
  for (const [name, paths] of Object.entries(entryModules))
    for (const module of importedFrom(paths, root, context)) needed.set(module, [...(needed.get(module) ?? []), name]);
  const left = new Set(ungroupedModules.map((path) => join(root, path)));
  const grouped = [...needed].filter(
    ([module, names]) => !left.has(module) && shortCommands.some((command) => names.includes(command)),
  );
  // Modules that the start needs are loaded for every command, and are few enough for threads to load all of them.
  return new Map(grouped.map(([module, names]) => [module, names.includes('start') ? 'start' : names.join('-')]));
}

/** Returns these modules and all modules that they import statically, directly or indirectly. */
function importedFrom(paths: readonly string[], root: string, context: ChunkingContext): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = paths.map((path) => join(root, path));
  const missing = waiting.find((module) => context.getModuleInfo(module) === null);
  // Without this check a renamed file would no longer be grouped, and only a slower start would show that.
  if (missing !== undefined)
    throw new Error(`${missing} is not part of the program: name its successor in together.ts`);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    waiting.push(...(context.getModuleInfo(next)?.importedIds ?? []));
  }
  return found;
}
