import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { onServer } from '../../setup/sql.ts';
import type { Stand } from '../stand.ts';

/** On which database a server keeps its account. */
export type DatabaseName = 'embedded' | 'Postgres';

/** What a database takes on its disk, in MB. The write-ahead log of a Postgres is shared by all of its databases. */
export interface DiskUse {
  readonly data: number;
  readonly log?: number;
}

/** A database of its own for one server, migrated and empty. */
export interface Storage {
  readonly name: DatabaseName;
  /** What the server is started with. */
  readonly flags: { readonly url?: string; readonly dataDir: string };
  use(): Promise<DiskUse>;
}

/** Makes the database. */
export async function openStorage(stand: Stand, name: DatabaseName): Promise<Storage> {
  return name === 'embedded'
    ? embedded(await stand.embedded())
    : postgres(await stand.postgres(), await stand.directory());
}

function embedded(dataDir: string): Storage {
  const use = async () => {
    const [all, log] = [await sizeOf(dataDir), await sizeOf(join(dataDir, 'postgres', 'pg_wal'))];
    return { data: all - log, log };
  };
  return { name: 'embedded', flags: { dataDir }, use };
}

function postgres(url: string, dataDir: string): Storage {
  const use = async () => {
    const [row] = await onServer(url, 'select pg_database_size(current_database()) as bytes');
    return { data: Number(row?.['bytes']) / 1e6 };
  };
  return { name: 'Postgres', flags: { url, dataDir }, use };
}

/** How much of the disk the files below a directory take, in MB. */
async function sizeOf(directory: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue;
    // Files come and go while the server runs.
    const found = await lstat(join(entry.parentPath, entry.name)).catch(() => undefined);
    bytes += (found?.blocks ?? 0) * 512;
  }
  return bytes / 1e6;
}
