import { access, chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../lib/error-code.ts';
import { Unavailable } from '../../model/errors.ts';

/** Says that a data directory holds a database, so that one that lost its database is never taken for a new one. */
const MARKER = 'data-directory.json';
const VERSION = 1;

/** Without these the embedded Postgres would make a new database in place of the old one, or end without a reason. */
const needed = [
  'PG_VERSION',
  'postgresql.conf',
  'global/pg_control',
  'global/pg_filenode.map',
  'base',
  'pg_wal',
  'pg_xact',
];

/** Creates the data directory when it is missing; only its owner may look into it. */
export async function openDataDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await closeToOthers(directory);
}

/**
 * Returns the folder of the database files in a data directory. A new directory gets them by `create`, beside their place
 * and moved there when complete, so that a kill leaves all or nothing. Throws `Unavailable` when files of an existing
 * database are missing: nothing is created in their place.
 */
export async function databaseFolder(directory: string, create: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(directory, 'postgres');
  const marked = await isMarked(directory);
  if (!(await exists(folder))) {
    if (marked) throw damaged(directory, 'the folder `postgres` is missing');
    await createAtomically(folder, create);
  }
  const missing = await firstMissing(folder);
  if (missing !== undefined) throw damaged(directory, `\`postgres/${missing}\` is missing`);
  await closeToOthers(folder);
  if (!marked) {
    await closeFiles(folder);
    await mark(directory);
  }
  return folder;
}

/** Whether a data directory holds a database, or lost the files of one. */
export async function holdsDatabase(directory: string): Promise<boolean> {
  return (await exists(join(directory, 'postgres'))) || (await exists(join(directory, MARKER)));
}

/** The error for a database whose files are damaged, with the ways to restore it. */
export function damaged(directory: string, what: string, cause?: unknown): Unavailable {
  return new Unavailable(
    `The embedded database in ${directory} is damaged: ${what}. Nothing was changed. ` +
      'Put a copy of the whole directory in its place; or move it away, put its `secret.key` alone into a new one and, while the server ' +
      `is stopped, bring its accounts back with \`heddle operator restore FILE --data-dir ${directory}\` from archives of \`heddle backup\`.`,
    { cause },
  );
}

/** SQLSTATEs of pages that are no pages, indexes that lead nowhere, and files that are gone or cannot be read. */
const damage = /^(XX001|XX002|58P01|58030)$/;

/** An error of the embedded database with the ways to restore it, when its files are damaged. */
export function asDamage(directory: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return damage.test(codeOf(error) ?? '') ? damaged(directory, error.message, error) : error;
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
  if (version === undefined) throw damaged(directory, `\`${MARKER}\` cannot be read`);
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

async function firstMissing(folder: string): Promise<string | undefined> {
  for (const name of needed) if (!(await exists(join(folder, name)))) return name;
  return undefined;
}

/**
 * Removes the rights of other users. A mounted volume may belong to another user: its mode is then its administrator's.
 */
async function closeToOthers(path: string): Promise<void> {
  const { mode, uid } = await stat(path);
  const own = process.getuid?.() ?? uid;
  if ((mode & 0o077) !== 0 && (own === uid || own === 0)) await chmod(path, mode & 0o700);
}

/** The same for what is in a folder: a new database comes with files that everybody may write, whatever the umask is. */
async function closeFiles(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const own = entries.filter((entry) => !entry.isSymbolicLink());
  await Promise.all(own.map((entry) => closeToOthers(join(entry.parentPath, entry.name))));
}

/** Whether there is a file or directory. */
export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
