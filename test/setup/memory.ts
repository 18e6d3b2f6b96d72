import { accessSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const memory = '/dev/shm';

/** What the files of a whole run may take, in bytes. */
const room = 6 * 2 ** 30;

/**
 * Keeps the temporary files of a run in memory, where the system offers that: most of them are copies of databases, which
 * cost a tenth of the CPU there. TMPDIR, when it is set, goes before it.
 */
export function keepFilesInMemory(): void {
  if (process.env['TMPDIR'] === undefined && isUsable()) process.env['TMPDIR'] = memory;
}

/** Whether there is room, and programs may be started from there: containers often have 64 MiB of it, for data only. */
function isUsable(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize >= room && mayStartPrograms();
  } catch {
    // Not on this system, or not for this user.
    return false;
  }
}

function mayStartPrograms(): boolean {
  const directory = mkdtempSync(join(memory, 'heddle-test-'));
  try {
    const program = join(directory, 'program');
    writeFileSync(program, '', { mode: 0o700 });
    accessSync(program, constants.X_OK);
    return true;
  } finally {
    rmSync(directory, { recursive: true });
  }
}
