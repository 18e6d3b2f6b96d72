import { type DatabaseOptions, openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';

/** Creates the database if it is an embedded one, and applies all migrations. */
export async function migrated(options: DatabaseOptions): Promise<void> {
  const database = await openDatabase(options);
  await migrate(database);
  await database.close();
}

// Run as a program: `node migrated.ts DIRECTORY` creates an embedded database in the directory.
const [, , dataDir] = process.argv;
if (import.meta.main && dataDir !== undefined) await migrated({ dataDir });
