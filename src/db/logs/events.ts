import type { JsonObject } from '../../lib/json.ts';
import type { Actor } from '../../model/declare/actor.ts';
import type { AuditEvent } from '../../model/declare/kind.ts';
import { eventRow, insertEventsText, numberEventsText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { AccountAccess, Database } from '../database.ts';

/** Position in an account's event stream. */
export interface StreamPosition {
  readonly revision: number;
  readonly seq: number;
}

/** An event of an account's event stream. */
export interface EventRow extends StreamPosition {
  readonly type: 'change' | 'revision' | 'notice';
  readonly data: JsonObject;
}

/**
 * Returns the first events after a position, in order: for each revision its changes, then the revision itself, then
 * the notices that were recorded while it was the newest revision (audit events whose code begins with `config.`).
 */
export async function readEventsAfter(
  database: Database,
  account: string,
  { revision, seq }: StreamPosition,
  limit: number,
): Promise<readonly EventRow[]> {
  const [rows] = await database.inAccount(account, [statement<EventRow>(afterText, [account, revision, seq, limit])]);
  return rows;
}

// A plan has at most 50,000 changes, so the revision (999999) follows them. Notices follow the revision, ordered by the
// number of their audit event.
const afterText = `select revision, seq, type, data from (
  select revision, seq::bigint, 'change' as type,
    jsonb_build_object('action', action, 'kind', kind, 'id', object_id, 'key', key, 'name', name,
      'paths', (select coalesce(jsonb_agg(unit ->> 'path'), '[]') from jsonb_array_elements(units) unit)) as data
  from changes where account_id = $1 and revision >= $2
  union all
  select revision, 999999, 'revision',
    jsonb_build_object('at', created_at, 'actor', actor, 'source', source_id, 'commit', commit_ref, 'plan', plan_id,
      'digest', plan_digest, 'counts', summary)
  from revisions where account_id = $1 and revision >= $2
  union all
  select revision, 1000000 + id, 'notice',
    jsonb_build_object('at', created_at, 'code', activity_code, 'initiator', initiator_id, 'target', target_id, 'meta', meta)
  from audit_events where account_id = $1 and revision >= $2 and activity_code like 'config.%'
) events
where (revision, seq) > ($2::bigint, $3::bigint)
order by revision, seq
limit $4`;

/** Extent of an account's event stream. */
export interface StreamExtent {
  /** Position after the newest event. */
  readonly end: StreamPosition;
  /** Oldest revision in the stored history. */
  readonly oldest: number;
  /** Position of the last notice that was deleted together with old audit events. Absent when none was deleted. */
  readonly deleted?: StreamPosition;
}

/** Returns the current extent of an account's event stream, or `undefined` when the account does not exist. */
export async function readStreamExtent(database: Database, account: string): Promise<StreamExtent | undefined> {
  const [rows] = await database.inAccount(account, [statement<ExtentRow>(extentText, [account])]);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { revision, last, oldest, notice_revision: deleted, notice_id: notice } = row;
  return {
    end: { revision, seq: noticeSeqOffset + last },
    oldest: oldest ?? revision,
    ...(deleted === null || notice === null || notice === 0
      ? {}
      : { deleted: { revision: deleted, seq: noticeSeqOffset + notice } }),
  };
}

/** Offset that is added to the number of an audit event to get the `seq` of its notice. */
const noticeSeqOffset = 1_000_000;

interface ExtentRow {
  readonly revision: number;
  readonly last: number;
  readonly oldest: number | null;
  readonly notice_revision: number | null;
  readonly notice_id: number | null;
}

const extentText = `select a.revision, a.audit_sequence as last, b.notice_revision, b.notice_id,
  (select min(revision) from revisions where account_id = $1) as oldest
from accounts a left join audit_base b using (account_id) where a.account_id = $1`;

/**
 * Writes audit events that belong to no change of objects, under the newest revision. They get their numbers from the
 * account's head row, so that they cannot appear behind a later revision.
 */
export async function recordEvents(
  database: AccountAccess,
  account: string,
  { actor, at, events }: { readonly actor: Actor; readonly at: string; readonly events: readonly AuditEvent[] },
): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map((event) => eventRow({ actor, event, at }));
  await database.inAccount(account, [statement(recordText, [account, JSON.stringify(rows), events.length])], {
    write: true,
  });
}

const recordText = `with ${numberEventsText('$3::int')} ${insertEventsText('$2::json')}`;
