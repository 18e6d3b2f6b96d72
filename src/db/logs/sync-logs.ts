import type { syncLogLevels } from '../../model/declare/list-words.ts';
import { build, statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** What one run of an integration has to say. */
export interface SyncLog {
  readonly level: (typeof syncLogLevels)[number];
  /** ISO 8601. */
  readonly timestamp: string;
  readonly message: string;
}

/** An entry as it is kept; numbers grow with every entry of an integration. */
export interface SyncLogEntry {
  readonly id: number;
  readonly level: string;
  readonly timestamp: Date;
  readonly message: string;
}

/** How many entries of an integration are kept: the newest. */
const capacity = 1000;

// Locked in a statement of its own: the next one then sees what the previous holder has written.
const lockText = 'select 1 from objects where account_id = $1 and id = $2 for no key update';

const insertText = `insert into sync_logs (account_id, integration_id, id, level, timestamp, message)
select $1, o.id, (select coalesce(max(l.id), 0) from sync_logs l where l.account_id = $1 and l.integration_id = $2) + x.at,
  x.entry ->> 'level', (x.entry ->> 'timestamp')::timestamptz, x.entry ->> 'message'
from objects o, json_array_elements($3::json) with ordinality as x(entry, at)
where o.account_id = $1 and o.id = $2
returning id`;

const forgetText = `delete from sync_logs where account_id = $1 and integration_id = $2
  and id <= (select max(l.id) from sync_logs l where l.account_id = $1 and l.integration_id = $2) - ${capacity}`;

/** Writes entries of one integration, all or none. Returns whether the integration is there. */
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

/** The entries of an integration, newest first. */
export async function listSyncLogs(
  database: Database,
  account: string,
  integration: string,
): Promise<readonly SyncLogEntry[]> {
  const [rows] = await database.inAccount(account, [
    build
      .selectFrom('sync_logs')
      .select(['id', 'level', 'timestamp', 'message'])
      .where('account_id', '=', account)
      .where('integration_id', '=', integration)
      .orderBy('id', 'desc')
      .limit(capacity)
      .compile(),
  ]);
  return rows;
}
