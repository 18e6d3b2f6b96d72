import { access, chmod, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../lib/error-code.ts';
import { Unavailable } from '../../model/errors.ts';
import { createDataDirectory } from './disk.ts';

/**
 * File that marks a data directory as containing a database, so that a directory that lost its database is never
 * treated as a new one.
 */
const MARKER = 'data-directory.json';
const VERSION = 1;

/**
 * Files without which the embedded Postgres would create a new database that replaces the old one, or exit without a
 * reason.
 */
const requiredFiles = [
  'PG_VERSION',
  'postgresql.conf',
  'global/pg_control',
  'global/pg_filenode.map',
  'base',
  'pg_wal',
  'pg_xact',
];

/** Creates the data directory when it is missing, and removes the permissions of other users. */
export async function openDataDirectory(directory: string): Promise<void> {
  await createDataDirectory(directory);
  await revokeOthersAccess(directory);
}

/**
 * Returns the folder of the database files in a data directory. For a new directory, `create` writes them to a
 * temporary folder, which is renamed when it is complete, so that a kill leaves all files or none. Throws `Unavailable`
 * when files of an existing database are missing, and creates nothing in that case.
 */
export async function databaseFolder(directory: string, create: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(directory, 'postgres');
  const marked = await isMarked(directory);
  if (!(await exists(folder))) {
    if (marked) throw damagedDatabaseError(directory, 'the folder `postgres` is missing');
    await createAtomically(folder, create);
  }
  const missing = await findMissingFile(folder);
  if (missing !== undefined) throw damagedDatabaseError(directory, `\`postgres/${missing}\` is missing`);
  await revokeOthersAccess(folder);
  if (!marked) {
    await revokeOthersAccessIn(folder);
    await mark(directory);
  }
  return folder;
}

/** Returns whether a data directory contains a database, or the marker of a database whose files are lost. */
export async function holdsDatabase(directory: string): Promise<boolean> {
  return (await exists(join(directory, 'postgres'))) || (await exists(join(directory, MARKER)));
}

/** Returns the error for a database with damaged files. Its message explains how to restore the database. */
export function damagedDatabaseError(directory: string, what: string, cause?: unknown): Unavailable {
  return new Unavailable(
    `The embedded database in ${directory} is damaged: ${what}. Nothing was changed. ` +
      'Replace the whole directory with a copy; or move it away, put only its `secret.key` into a new directory and, while the server ' +
      `is stopped, restore its accounts with \`heddle operator restore FILE --data-dir ${directory}\` from archives of \`heddle backup\`.`,
    { cause },
  );
}

/** SQLSTATEs of invalid pages, corrupt indexes, and missing or unreadable files. */
const damageCodes = /^(XX001|XX002|58P01|58030)$/;

/**
 * Converts an error of the embedded database with `damagedDatabaseError` when it shows that the files are damaged.
 * Returns other errors unchanged.
 */
export function toDamageError(directory: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return damageCodes.test(codeOf(error) ?? '') ? damagedDatabaseError(directory, error.message, error) : error;
}

async function createAtomically(folder: string, create: (folder: string) => Promise<void>): Promise<void> {
  const unfinished = `${folder}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await create(unfinished);
  await rename(unfinished, folder);
}

async function isMarked(directory: string): Promise<boolean> {
  const path = join(directory, MARKER);
  if (!(await exists(path))) return false;
  const version = versionOf(await readFile(path, 'utf8'));
  if (version === undefined) throw damagedDatabaseError(directory, `\`${MARKER}\` cannot be read`);
  if (version <= VERSION) return true;
  throw new Unavailable(
    `The data directory ${directory} was written by a newer Heddle; start that version, or a newer one.`,
  );
}

function versionOf(text: string): number | undefined {
  try {
    const version: unknown = JSON.parse(text)?.version;
    return typeof version === 'number' ? version : undefined;
  } catch {
    return undefined;
  }
}

async function mark(directory: string): Promise<void> {
  const path = join(directory, MARKER);
  const marker = { heddle: 'data directory of an embedded database', version: VERSION };
  await writeFile(`${path}.new`, `${JSON.stringify(marker)}\n`, { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
}

async function findMissingFile(folder: string): Promise<string | undefined> {
  for (const name of requiredFiles) if (!(await exists(join(folder, name)))) return name;
  return undefined;
}

/**
 * Removes the permissions of other users. A mounted volume may belong to another user: its administrator then decides
 * its mode.
 */
async function revokeOthersAccess(path: string): Promise<void> {
  const { mode, uid } = await stat(path);
  const own = process.getuid?.() ?? uid;
  if ((mode & 0o077) !== 0 && (own === uid || own === 0)) await chmod(path, mode & 0o700);
}

/**
 * Removes the permissions of other users from everything in a folder. A new database contains files that everyone may
 * write, whatever the umask is.
 */
async function revokeOthersAccessIn(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const own = entries.filter((entry) => !entry.isSymbolicLink());
  await Promise.all(own.map((entry) => revokeOthersAccess(join(entry.parentPath, entry.name))));
}

/** Returns whether a file or directory exists. */
export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
