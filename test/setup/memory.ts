import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const memory = '/dev/shm';

/** What the files of a whole run may take, in bytes. */
const room = 6 * 2 ** 30;

/**
 * Makes a directory in which all temporary files of a run are, and returns its path: in memory, where the system offers
 * that, because most of them are copies of databases, which cost a tenth of the CPU there. TMPDIR, when it is set, goes
 * before it.
 */
export function makeTemporaryDirectory(): string {
  const parent = process.env['TMPDIR'] === undefined && isUsable() ? memory : tmpdir();
  const directory = mkdtempSync(join(parent, 'heddle-run-'));
  // Servers and programs that run as other users have files of their own in it.
  chmodSync(directory, 0o711);
  process.env['TMPDIR'] = directory;
  return directory;
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
