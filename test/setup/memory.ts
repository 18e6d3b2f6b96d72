import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const memory = '/dev/shm';

/** Free space that the files of a whole run need, in bytes. */
const room = 6 * 2 ** 30;

/**
 * Creates the directory for all temporary files of a run, sets TMPDIR to it, and returns its path. It is in memory
 * where the system offers that, because most of the files are copies of databases, which cost a tenth of the CPU there.
 * A TMPDIR that is already set takes precedence.
 */
export function makeTemporaryDirectory(): string {
  const parent = process.env['TMPDIR'] === undefined && isUsable() ? memory : tmpdir();
  const directory = mkdtempSync(join(parent, 'heddle-run-'));
  // Servers and programs that run as other users have their own files in this directory.
  chmodSync(directory, 0o711);
  process.env['TMPDIR'] = directory;
  return directory;
}

/**
 * Returns whether the memory file system has enough room and permits to start programs from it. Containers often have
 * only 64 MiB there, for data only.
 */
function isUsable(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize >= room && mayStartPrograms();
  } catch {
    // The memory file system does not exist, or this user may not use it.
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
