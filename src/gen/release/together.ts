import { join } from 'node:path';
import type { ChunkingContext, CodeSplittingGroup } from 'rolldown';

/** What begins often and ends soon, or shares modules with that and must not load the rest of it: where its modules are imported. */
const starts: Readonly<Record<string, readonly string[]>> = {
  start: ['src/main.ts', 'src/cli/version.ts'],
  fmt: ['src/cli/offline/fmt.ts'],
  validate: ['src/cli/offline/validate.ts', 'src/cli/offline/offline.ts'],
  reader: ['src/documents/threads/job.ts', 'src/documents/threads/worker-message.ts'],
  leases: ['src/db/database.ts', 'src/db/leases/leases.ts', 'src/db/leases/lease-keeper.ts'],
};

/** Commands; what none of them needs is left to the bundler. */
const commands = ['start', 'fmt', 'validate'] as const;

/** They wait for what they import later, which would wait for them if they shared a file. */
const apart: readonly string[] = ['src/main.ts'];

/**
 * Modules that the same of these need are one file: to find, read and link a file takes half a millisecond whatever is in it,
 * and a command that checks a few documents would be read from eighty.
 */
export function togetherByStart(root: string): CodeSplittingGroup[] {
  let groups: ReadonlyMap<string, string> | undefined;
  return [
    {
      name: (module, context) => {
        groups ??= groupsOf(root, context);
        return groups.get(module) ?? null;
      },
    },
  ];
}

function groupsOf(root: string, context: ChunkingContext): ReadonlyMap<string, string> {
  const needed = new Map<string, string[]>();
  for (const [name, paths] of Object.entries(starts))
    for (const module of importedFrom(paths, root, context)) needed.set(module, [...(needed.get(module) ?? []), name]);
  const left = new Set(apart.map((path) => join(root, path)));
  const grouped = [...needed].filter(
    ([module, names]) => !left.has(module) && commands.some((command) => names.includes(command)),
  );
  return new Map(grouped.map(([module, names]) => [module, names.filter((name) => tellsApart(name, names)).join('-')]));
}

/** What the start needs is loaded for every command: whether a command needs it too says nothing. */
function tellsApart(name: string, names: readonly string[]): boolean {
  return name === 'start' || !names.includes('start') || !commands.some((command) => command === name);
}

/** These modules and all that they import at once. */
function importedFrom(paths: readonly string[], root: string, context: ChunkingContext): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = paths.map((path) => join(root, path));
  const missing = waiting.find((module) => context.getModuleInfo(module) === null);
  // Otherwise a file that is called otherwise now would be grouped no more, and nothing but the time of a start would say so.
  if (missing !== undefined)
    throw new Error(`${missing} is not part of the program: name its successor in together.ts`);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    waiting.push(...(context.getModuleInfo(next)?.importedIds ?? []));
  }
  return found;
}
