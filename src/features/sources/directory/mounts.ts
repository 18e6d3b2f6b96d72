import { readFile, realpath } from 'node:fs/promises';
import { isDocumentFile } from '../files/snapshot.ts';

/** Where the kernel lists what is mounted; other systems than Linux have no such file, and no such mounts. */
const mountTable = '/proc/self/mountinfo';

/**
 * Warnings for files that are mount points themselves (a `subPath` mount, or one file bound into a container): the mount
 * keeps showing the file that was there at the start, whatever replaces it outside.
 */
export async function frozenFileWarnings(
  paths: readonly string[],
  table: string = mountTable,
): Promise<readonly string[]> {
  const text = await readFile(table, 'utf8').catch(() => '');
  const points = mountPoints(text);
  // Ten thousand files are not looked up where no document is mounted.
  if (points.size === 0) return [];
  const warnings: string[] = [];
  for (const path of paths) {
    if (!points.has(await realpath(path))) continue;
    warnings.push(
      `"${path}" is mounted as a single file (subPath) and will not update; mount the whole directory instead.`,
    );
  }
  return warnings;
}

/** The fifth field of each line that names a file we may read; blanks in it are written as `\040`. */
function mountPoints(text: string): ReadonlySet<string> {
  const points = text.split('\n').map((line) => (line.split(' ')[4] ?? '').replace(/\\([0-7]{3})/g, unescapeOctal));
  return new Set(points.filter(isDocumentFile));
}

function unescapeOctal(_: string, octal: string): string {
  return String.fromCharCode(Number.parseInt(octal, 8));
}
