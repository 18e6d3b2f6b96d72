import type { JsonObject } from '../../lib/json.ts';
import type { Actor } from '../../model/declare/actor.ts';
import type { AuditEvent } from '../../model/declare/kind.ts';
import { eventRow, insertEventsText, numberEventsText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { AccountAccess, Database } from '../database.ts';

/** A place in an account's stream of events. */
export interface Cursor {
  readonly revision: number;
  readonly seq: number;
}

/** One event of the stream. */
export interface EventRow extends Cursor {
  readonly type: 'change' | 'revision' | 'notice';
  readonly data: JsonObject;
}

/**
 * The first events behind a place, in order: of each revision its changes, then the revision itself, then what was
 * noticed while it was the newest one (audit events whose code begins with `config.`).
 */
export async function eventsAfter(
  database: Database,
  account: string,
  { revision, seq }: Cursor,
  limit: number,
): Promise<readonly EventRow[]> {
  const [rows] = await database.inAccount(account, [statement<EventRow>(afterText, [account, revision, seq, limit])]);
  return rows;
}

// A plan has at most 50,000 changes: the revision follows them, and notices follow it by the number of their audit event.
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

/** The place behind everything that happened until now, and the first revision that the history still has. */
export async function endOfEvents(
  database: Database,
  account: string,
): Promise<{ readonly end: Cursor; readonly oldest: number } | undefined> {
  const [rows] = await database.inAccount(account, [
    statement<{ readonly revision: number; readonly last: number; readonly oldest: number | null }>(
      `select revision, audit_sequence as last, (select min(revision) from revisions where account_id = $1) as oldest
      from accounts where account_id = $1`,
      [account],
    ),
  ]);
  const [row] = rows;
  if (row === undefined) return undefined;
  return { end: { revision: row.revision, seq: 1_000_000 + row.last }, oldest: row.oldest ?? row.revision };
}

/**
 * Writes audit events that belong to no change of objects, under the revision that is the newest. They take their
 * numbers from the account's head row, so that they cannot slip in behind a later revision.
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
