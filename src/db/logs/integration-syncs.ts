import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** Records that an integration has applied the data of its provider. Does nothing when the integration was deleted. */
export async function recordLastSync(
  database: Database,
  account: string,
  integration: string,
  at: string,
): Promise<void> {
  await database.inAccount(account, [statement(recordText, [account, integration, at])], { write: true });
}

const recordText = `insert into integration_syncs (account_id, integration_id, last_synced_at)
select o.account_id, o.id, $3::timestamptz from objects o where o.account_id = $1 and o.id = $2
on conflict (account_id, integration_id) do update set last_synced_at = excluded.last_synced_at
where integration_syncs.last_synced_at < excluded.last_synced_at`;

/**
 * Returns the time of the last sync of each integration of an account, in ISO 8601, without the integrations that were
 * never synced.
 */
export async function readSyncs(database: Database, account: string): Promise<ReadonlyMap<string, string>> {
  const [rows] = await database.inAccount(account, [
    statement<{ readonly integration_id: string; readonly last_synced_at: Date }>(syncsText, [account]),
  ]);
  return new Map(rows.map(({ integration_id: id, last_synced_at: at }) => [id, at.toISOString()]));
}

const syncsText = `select integration_id, last_synced_at from integration_syncs where account_id = $1
union all
select integration_id, last_synced_at from endpoint_security where account_id = $1 and last_synced_at is not null`;
