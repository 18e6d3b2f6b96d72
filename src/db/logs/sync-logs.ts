import type { syncLogLevels } from '../../model/declare/list-words.ts';
import { queryBuilder, statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** A log entry of a run of an integration. */
export interface SyncLog {
  readonly level: (typeof syncLogLevels)[number];
  /** Time of the entry, in ISO 8601. */
  readonly timestamp: string;
  readonly message: string;
}

/** A stored log entry. Ids grow with every entry of an integration. */
export interface SyncLogEntry {
  readonly id: number;
  readonly level: string;
  readonly timestamp: Date;
  readonly message: string;
}

/** Number of entries that are kept for an integration. Older entries are deleted. */
const maxEntries = 1000;

// The lock is taken in a separate statement, so that the next statement sees the rows that the previous holder wrote.
const lockText = 'select 1 from objects where account_id = $1 and id = $2 for no key update';

const insertText = `insert into sync_logs (account_id, integration_id, id, level, timestamp, message)
select $1, o.id, (select coalesce(max(l.id), 0) from sync_logs l where l.account_id = $1 and l.integration_id = $2) + x.at,
  x.entry ->> 'level', (x.entry ->> 'timestamp')::timestamptz, x.entry ->> 'message'
from objects o, json_array_elements($3::json) with ordinality as x(entry, at)
where o.account_id = $1 and o.id = $2
returning id`;

const forgetText = `delete from sync_logs where account_id = $1 and integration_id = $2
  and id <= (select max(l.id) from sync_logs l where l.account_id = $1 and l.integration_id = $2) - ${maxEntries}`;

/** Writes entries of one integration, all or none. Returns false when the integration does not exist. */
export async function addSyncLogs(
  database: Database,
  account: string,
  integration: string,
  entries: readonly SyncLog[],
): Promise<boolean> {
  const [, added] = await database.inAccount(account, [
    statement(lockText, [account, integration]),
    statement<{ readonly id: number }>(insertText, [account, integration, JSON.stringify(entries)]),
    statement(forgetText, [account, integration]),
  ]);
  return added.length > 0;
}

/** Returns the entries of an integration, newest first. */
export async function listSyncLogs(
  database: Database,
  account: string,
  integration: string,
): Promise<readonly SyncLogEntry[]> {
  const [rows] = await database.inAccount(account, [
    queryBuilder
      .selectFrom('sync_logs')
      .select(['id', 'level', 'timestamp', 'message'])
      .where('account_id', '=', account)
      .where('integration_id', '=', integration)
      .orderBy('id', 'desc')
      .limit(maxEntries)
      .compile(),
  ]);
  return rows;
}
