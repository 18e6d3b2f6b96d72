import type { Engine } from '../commit/engine.ts';
import { openDatabase } from '../db/database.ts';
import { exists, holdsDatabase, toDamageError } from '../db/embedded/data-directory.ts';
import { holdsMigrations, migrate } from '../db/migrate.ts';
import { readKeys, requireOwnKey } from '../db/sealing/keys.ts';
import { verifyKey } from '../db/sealing/sealing.ts';
import { refusalOf } from '../db/unusable-database.ts';
import { InvalidInput } from '../model/errors.ts';
import { createEngine, environmentOfKeys } from './engine.ts';
import { connectNotices } from './notices.ts';

/** Location of a server's database, and its keys. */
export interface OfflineOptions {
  readonly databaseUrl: string | undefined;
  /** Directory of the embedded database. Only one process may use it, so the server must be stopped first. */
  readonly dataDir: string;
  readonly preparedStatements: boolean;
  readonly secretKey: string | undefined;
  readonly secretKeyFile: string | undefined;
}

/** Like `withDatabase`, but creates nothing: throws `InvalidInput` where there is no database of Heddle. */
export async function withExistingDatabase<Value>(
  options: OfflineOptions,
  work: (engine: Engine) => Promise<Value>,
): Promise<Value> {
  const { databaseUrl, dataDir } = options;
  const correct = 'name the data directory of the server with --data-dir, or its Postgres with HEDDLE_DATABASE_URL';
  if (databaseUrl === undefined && !(await holdsDatabase(dataDir))) {
    const what = (await exists(dataDir)) ? `${dataDir} contains no database` : `there is no directory ${dataDir}`;
    throw new InvalidInput(`${what}; ${correct}.`);
  }
  if (databaseUrl !== undefined && !(await isMigrated(databaseUrl)))
    throw new InvalidInput(`The database of HEDDLE_DATABASE_URL has no tables of Heddle; ${correct}.`);
  return withDatabase(options, work);
}

async function isMigrated(url: string): Promise<boolean> {
  const database = await openDatabase({ url, poolSize: 1 });
  try {
    return await holdsMigrations(database);
  } finally {
    await database.close();
  }
}

/**
 * Opens and migrates the database, and runs `work` on it as the operator, without a server. Servers that run on the
 * same Postgres are notified of changes.
 */
export async function withDatabase<Value>(
  { databaseUrl: url, dataDir, preparedStatements, ...keyOptions }: OfflineOptions,
  work: (engine: Engine) => Promise<Value>,
): Promise<Value> {
  // No other user may read the files of the embedded database.
  const umask = process.umask(0o077);
  if (url === undefined) await requireOwnKey({ ...keyOptions, dataDir });
  const keys = await readKeys({ ...keyOptions, dataDir: url === undefined ? dataDir : undefined });
  const database = await openDatabase({
    ...(url === undefined ? { dataDir } : { url }),
    ...{ poolSize: 2, preparedStatements },
  });
  const { notices, close } = connectNotices(url);
  try {
    await migrate(database);
    const plain = createEngine({ database });
    // The vault starts in the unbound form, and `verifyKey` then sets the form that the database records: servers of an
    // earlier release may still be running.
    const planEnvironment = { ...plain.planEnvironment, ...environmentOfKeys(keys, 'unbound') };
    await verifyKey(database, plain.registry, planEnvironment.vault);
    const engine = createEngine({ database, kinds: plain.registry, planEnvironment, notices });
    const done = await work(engine);
    await engine.committer.settle();
    return done;
  } catch (error) {
    throw url === undefined ? toDamageError(dataDir, error) : (refusalOf(error) ?? error);
  } finally {
    await close();
    await database.close();
    process.umask(umask);
  }
}
