import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** A number that is to serve for one proof. */
export interface Nonce {
  readonly nonce: string;
  /** Behind this moment a proof with it is refused anyway; ISO 8601. */
  readonly expires: string;
}

/**
 * What a used number has to survive. What is written `before a commit` reaches the disk with that commit at the latest,
 * because the log of the database has one order: a caller that saw the commit finds the number used, whatever happens.
 */
export type NonceLifetime = 'lasting' | 'before a commit';

/** Notes numbers as used, and answers those among them that were not used before. */
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

/** Forgets numbers whose proofs are refused by their age. */
export async function forgetNonces(database: Database, account: string): Promise<void> {
  await database.inAccount(account, [
    statement('delete from agent_nonces where account_id = $1 and expires_at < clock_timestamp()', [account]),
  ]);
}
