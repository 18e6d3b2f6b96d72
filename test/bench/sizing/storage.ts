import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { onServer } from '../../setup/sql.ts';
import type { Stand } from '../stand.ts';

/** The database in which a server keeps its account. */
export type DatabaseName = 'embedded' | 'Postgres';

/**
 * Disk space of a database, in MB. `log` is absent for Postgres, because all databases of a Postgres share one
 * write-ahead log.
 */
export interface DiskUse {
  readonly data: number;
  readonly log?: number;
}

/** A separate database for one server, migrated and empty. */
export interface Storage {
  readonly name: DatabaseName;
  /** Flags with which the server is started. */
  readonly flags: { readonly url?: string; readonly dataDir: string };
  use(): Promise<DiskUse>;
}

/** Creates the database. */
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

/** Returns the disk space that the files below a directory occupy, in MB. */
async function sizeOf(directory: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue;
    // The server may delete a file between the listing and this call.
    const found = await lstat(join(entry.parentPath, entry.name)).catch(() => undefined);
    bytes += (found?.blocks ?? 0) * 512;
  }
  return bytes / 1e6;
}
