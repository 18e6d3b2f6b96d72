import { readFile, realpath } from 'node:fs/promises';
import { isDocumentFile } from '../files/snapshot.ts';

/** File in which the kernel lists mounts. Systems other than Linux have neither this file nor such mounts. */
const mountTable = '/proc/self/mountinfo';

/**
 * Returns warnings for files that are mount points themselves (a `subPath` mount, or a single file bound into a
 * container). Such a mount keeps showing its first file, even after the file was replaced outside.
 */
export async function frozenFileWarnings(
  paths: readonly string[],
  table: string = mountTable,
): Promise<readonly string[]> {
  const text = await readFile(table, 'utf8').catch(() => '');
  const points = mountPoints(text);
  // Avoids ten thousand look-ups when no document is a mount point.
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

/**
 * Returns the mount points that have the name of a document file: the fifth field of each line, in which blanks are
 * written as `\040`.
 */
function mountPoints(text: string): ReadonlySet<string> {
  const points = text.split('\n').map((line) => (line.split(' ')[4] ?? '').replace(/\\([0-7]{3})/g, unescapeOctal));
  return new Set(points.filter(isDocumentFile));
}

function unescapeOctal(_: string, octal: string): string {
  return String.fromCharCode(Number.parseInt(octal, 8));
}
