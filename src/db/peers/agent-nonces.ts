import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** A nonce of a proof. A nonce may be used once. */
export interface Nonce {
  readonly nonce: string;
  /** Time after which a proof with this nonce is refused because of its age, in ISO 8601. */
  readonly expires: string;
}

/**
 * What a recorded nonce must survive. A nonce that is written `before a commit` reaches the disk with that commit at
 * the latest, because the write-ahead log is sequential: a caller that saw the commit succeed finds the nonce used,
 * even after a crash.
 */
export type NonceLifetime = 'lasting' | 'before a commit';

/** Records nonces as used. Returns the nonces that were not used before. */
export async function useNonces(
  database: Database,
  account: string,
  nonces: readonly Nonce[],
  lifetime: NonceLifetime,
): Promise<ReadonlySet<string>> {
  const [rows] = await database.inAccount(account, [
    statement<{ readonly nonce: string }>(useText, [account, JSON.stringify(nonces), lifetime === 'lasting']),
  ]);
  return new Set(rows.map(({ nonce }) => nonce));
}

const useText = `insert into agent_nonces (account_id, nonce, expires_at)
select $1, x.nonce, x.expires from json_to_recordset($2::json) as x(nonce text, expires timestamptz)
where $3 or set_config('synchronous_commit', 'off', true) = 'off'
on conflict do nothing returning nonce`;

/** Deletes nonces whose proofs are refused because of their age. */
export async function deleteExpiredNonces(database: Database, account: string): Promise<void> {
  await database.inAccount(account, [
    statement('delete from agent_nonces where account_id = $1 and expires_at < clock_timestamp()', [account]),
  ]);
}
