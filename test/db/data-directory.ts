import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { Unavailable } from '../../src/model/errors.ts';
import { temporaryDirectory } from '../setup/database.ts';

/** Names a data directory for each test, which does not exist yet, and returns a function that returns its path. */
export function newDataDirectory(): () => string {
  let dataDir = '';
  beforeEach(async () => {
    dataDir = join(await temporaryDirectory(), 'data');
  });
  return () => dataDir;
}

/** Returns the permissions of a file or directory in octal. */
export async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

/** Opens the data directory as a server does, and closes it. */
export async function openAndClose(dataDir: string): Promise<void> {
  await (await openDatabase({ dataDir })).close();
}

/** Opens the data directory, expects a refusal, and returns its message. */
export async function refusal(dataDir: string): Promise<string> {
  const error = await openAndClose(dataDir).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Unavailable);
  return error instanceof Error ? error.message : '';
}

/** Returns every file of the directory with its size, to show that a refusal creates nothing. */
export async function contents(dataDir: string): Promise<readonly string[]> {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return (await Promise.all(files.map(async (path) => `${path} ${(await stat(path)).size}`))).sort();
}
