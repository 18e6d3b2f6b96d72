import { statement } from '../builder.ts';
import type { Database, RunSql } from '../database.ts';

/** A stored key of the embedded identity provider. */
export interface IdpKeyRow {
  readonly id: string;
  /** `sign` signs tokens; `cookies` signs cookies and forms. */
  readonly purpose: 'sign' | 'cookies';
  readonly sealed: string;
  readonly created_at: Date;
  /** Time at which the key stopped signing. It only verifies since then. Null while the key signs. */
  readonly retired_at: Date | null;
}

/** A new key to store. */
export type NewIdpKey = Pick<IdpKeyRow, 'id' | 'sealed'>;

const columns = 'id, purpose, sealed, created_at, retired_at';

/** Returns all keys, the current ones first, then the retired ones from the newest to the oldest. */
export async function listIdpKeys(database: Database): Promise<readonly IdpKeyRow[]> {
  return database.lookUp(
    statement<IdpKeyRow>(`select ${columns} from idp_keys order by retired_at desc nulls first, created_at desc`, []),
  );
}

/** Lifetimes of keys, in seconds. */
export interface KeyTimes {
  /** Age at which the signing key is replaced by a new one. 0: replace it immediately. */
  readonly rotateAfter: number;
  /** Time for which a retired key still verifies. */
  readonly keepRetired: number;
}

/**
 * Creates missing keys, replaces the signing key when it is older than `rotateAfter`, and deletes retired keys after
 * `keepRetired`. Servers that call it at the same time wait for each other. Returns whether it created a signing key.
 */
export async function renewIdpKeys(
  database: Database,
  { rotateAfter, keepRetired }: KeyTimes,
  make: (purpose: IdpKeyRow['purpose']) => NewIdpKey,
): Promise<boolean> {
  let renewed = false;
  const work = async (run: RunSql) => {
    renewed = false;
    await run('lock table idp_keys in exclusive mode');
    await run("delete from idp_keys where purpose = 'sign' and retired_at < now() - $1::text::interval second", [
      String(keepRetired),
    ]);
    if (!(await hasKey(run, 'cookies'))) await insertKey(run, 'cookies', make('cookies'));
    if (await hasKey(run, 'sign', rotateAfter)) return;
    await run("update idp_keys set retired_at = now() where purpose = 'sign' and retired_at is null");
    await insertKey(run, 'sign', make('sign'));
    renewed = true;
  };
  await database.asOwner(work, { write: 'short' });
  return renewed;
}

async function hasKey(run: RunSql, purpose: IdpKeyRow['purpose'], youngerThan?: number): Promise<boolean> {
  const rows = await run(
    `select id from idp_keys where purpose = $1 and retired_at is null
       and ($2::text is null or created_at > now() - $2::text::interval second)`,
    [purpose, youngerThan === undefined ? null : String(youngerThan)],
  );
  return rows.length > 0;
}

async function insertKey(run: RunSql, purpose: IdpKeyRow['purpose'], { id, sealed }: NewIdpKey): Promise<void> {
  await run('insert into idp_keys (id, purpose, sealed, created_at) values ($1, $2, $3, clock_timestamp())', [
    id,
    purpose,
    sealed,
  ]);
}
