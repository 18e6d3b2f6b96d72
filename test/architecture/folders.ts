import { posix } from 'node:path';
import { blankComments, findImports } from './imports.ts';

/** How many files a folder may hold, so that all of them can be seen at once. */
export const mostFiles = 25;

/** A file that is shorter, in lines, belongs into the only one that imports it. */
const shortest = 40;

/** Short files that stand alone although one neighbour alone imports them, and why. */
export const apart: Readonly<Record<string, string>> = {
  'src/api/routes/agent-services.ts': 'the operations of an area of their own',
  'src/cli/version.ts': 'a command, as all that stand there',
  'src/features/auth/provider/first-sign-in.ts': 'its neighbour is long enough',
  'src/features/peers/streams/read-scheduler.ts': 'its neighbour is long enough',
  'src/features/sources/kubernetes/reminder.ts': 'its neighbour is long enough',
  'src/features/sources/kubernetes/debouncer.ts': 'its neighbour is long enough',
  'src/features/sources/loop/measure.ts': 'its neighbour is long enough',
  'src/features/sources/loop/renewals.ts': 'its neighbour is long enough',
  'src/features/sources/loop/values-used.ts': 'its neighbour is long enough',
};

/** The folders with too many programs, each with how many. */
export function crowdedFolders(paths: Iterable<string>): readonly string[] {
  const folders = Map.groupBy(paths, (path) => posix.dirname(path));
  return [...folders].filter(([, files]) => files.length > mostFiles).map(([path, { length }]) => `${path}: ${length}`);
}

/** Short files that one file of their folder imports and no other program. */
export function misplacedFiles(files: ReadonlyMap<string, string>): readonly string[] {
  const importers = new Map<string, Set<string>>();
  for (const [path, source] of files)
    for (const { target } of findImports(path, blankComments(source)))
      importers.set(target, (importers.get(target) ?? new Set()).add(path));
  return [...files].flatMap(([path, source]) => {
    const [only, ...others] = importers.get(path) ?? [];
    const isAlone = only === undefined || others.length > 0 || posix.dirname(only) !== posix.dirname(path);
    return isAlone || source.split('\n').length > shortest ? [] : [path];
  });
}
