import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll } from 'vitest';
import { temporaryDirectory } from '../setup/database.ts';

/** Creates a directory for the backups of a test file, and returns functions for its files. */
export function backupDirectory() {
  let directory = '';
  beforeAll(async () => {
    directory = await temporaryDirectory();
  });
  const at = (name: string) => join(directory, name);
  return {
    /** Returns the path of a file. */
    at,
    /** Returns whether the file exists. */
    isThere: async (name: string) =>
      stat(at(name)).then(
        () => true,
        () => false,
      ),
  };
}
