import { statement } from '../builder.ts';
import type { Database, Run } from '../database.ts';

/** A key of the embedded identity provider, as it is stored. */
export interface IdpKeyRow {
  readonly id: string;
  /** `sign`: tokens. `cookies`: what browsers keep. */
  readonly purpose: 'sign' | 'cookies';
  readonly sealed: string;
  readonly created_at: Date;
  /** Since when it only verifies. */
  readonly retired_at: Date | null;
}

/** A key to be stored. */
export type NewIdpKey = Pick<IdpKeyRow, 'id' | 'sealed'>;

const columns = 'id, purpose, sealed, created_at, retired_at';

/** All keys, the newest first. */
export async function listIdpKeys(database: Database): Promise<readonly IdpKeyRow[]> {
  return database.lookUp(
    statement<IdpKeyRow>(`select ${columns} from idp_keys order by retired_at desc nulls first, created_at desc`, []),
  );
}

/** When keys come and go, in seconds. */
export interface KeyTimes {
  /** After what age a key is followed by a new one; 0: at once. */
  readonly rotateAfter: number;
  /** How long a retired key still verifies. */
  readonly keepRetired: number;
}

/** Makes the keys that are missing and follows the one that signs when its time has come. Servers that do so at once wait for each other. Returns whether it did. */
export async function renewIdpKeys(
  database: Database,
  { rotateAfter, keepRetired }: KeyTimes,
  make: (purpose: IdpKeyRow['purpose']) => NewIdpKey,
): Promise<boolean> {
  let renewed = false;
  const work = async (run: Run) => {
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

async function hasKey(run: Run, purpose: IdpKeyRow['purpose'], youngerThan?: number): Promise<boolean> {
  const rows = await run(
    `select id from idp_keys where purpose = $1 and retired_at is null
       and ($2::text is null or created_at > now() - $2::text::interval second)`,
    [purpose, youngerThan === undefined ? null : String(youngerThan)],
  );
  return rows.length > 0;
}

async function insertKey(run: Run, purpose: IdpKeyRow['purpose'], { id, sealed }: NewIdpKey): Promise<void> {
  await run('insert into idp_keys (id, purpose, sealed, created_at) values ($1, $2, $3, clock_timestamp())', [
    id,
    purpose,
    sealed,
  ]);
}
