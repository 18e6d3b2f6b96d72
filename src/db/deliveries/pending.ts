import type { EventFeed } from '../../model/declare/list-words.ts';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** An object with events after its cursor, or with set-aside events to send again. */
export interface PendingDelivery {
  readonly account: string;
  readonly channel: string;
  /**
   * Milliseconds until the delivery is due. 0: due now, also because the object changed since the failure, or because
   * enough events wait.
   */
  readonly dueInMs: number;
  /** Number of events after the cursor, whether or not the channel subscribes to them. */
  readonly behind: number;
  readonly failing: boolean;
  /** Feeds that have events to deliver now. */
  readonly feeds: readonly EventFeed[];
}

/**
 * Returns the deliveries of all accounts that have work and that no other server processes, longest waiting first.
 * Ignores leases of this server (`owner`): a lease that it failed to release would otherwise block a delivery until the
 * lease expires.
 */
export async function findPendingDeliveries(
  database: Database,
  owner: string,
  most: { readonly inAll: number; readonly ofAccount: number },
): Promise<readonly PendingDelivery[]> {
  return database.lookUp(statement<PendingDelivery>(pendingText, [owner, most.inAll, most.ofAccount]));
}

function millisecondsTo(moment: string): string {
  return `extract(epoch from ${moment} - clock_timestamp()) * 1000`;
}

/**
 * Selects every cursor that has work, with the number of events after it. `wait`: milliseconds for which these events
 * are still postponed.
 */
const cursorsText = `select account_id, channel_id, feed, newest - cursor as behind, again,
  case when newest - cursor < look_behind then greatest(0, ${millisecondsTo('look_at')}) else 0 end as wait
from (
  select d.account_id, d.channel_id, 'audit' as feed, d.cursor, d.look_at, d.look_behind, a.audit_sequence as newest,
    exists (select from set_aside_events s where s.account_id = d.account_id and s.channel_id = d.channel_id and s.retry) as again
  from deliveries d join accounts a on a.account_id = d.account_id
  union all
  select p.account_id, p.channel_id, p.feed, p.cursor, p.look_at, p.look_behind, n.last,
    exists (select from set_aside_records s
      where s.account_id = p.account_id and s.channel_id = p.channel_id and s.feed = p.feed and s.retry)
  from record_deliveries p join feed_numbers n on n.account_id = p.account_id and n.feed = p.feed
) cursors where cursor < newest or again`;

const pendingText = `select account, channel, failing, behind, feeds, "dueInMs" from (
select d.account_id as account, d.channel_id as channel, d.failures > 0 as failing, p.behind, p.feeds, d.next_at,
  row_number() over (partition by d.account_id order by d.next_at nulls first) as rank,
  greatest(p.wait, case when d.tried_revision is not distinct from o.updated_revision then ${millisecondsTo('d.next_at')} end)::float8
    as "dueInMs"
from (
  select account_id, channel_id, sum(behind)::bigint as behind, min(wait) as wait,
    coalesce(array_agg(feed order by feed) filter (where wait = 0), '{}') as feeds
  from (${cursorsText}) positions group by account_id, channel_id
) p
join deliveries d on d.account_id = p.account_id and d.channel_id = p.channel_id
left join objects o on o.account_id = d.account_id and o.id = d.channel_id
where not exists (select from leases l where l.account_id = d.account_id and l.name = 'delivery/' || d.channel_id
    and l.until > clock_timestamp() and l.owner <> $1)
) pending where rank <= $3
order by next_at nulls first
limit $2`;

/**
 * Creates cursors for objects of these kinds that have none because a server of an earlier release created them. The
 * cursors start after the newest event. Returns the number of created cursors.
 */
export async function createMissingCursors(database: Database, kinds: readonly string[]): Promise<number> {
  const rows = await database.lookUp(statement<object>(createMissingText, [kinds]));
  return rows.length;
}

const createMissingText = `insert into deliveries (account_id, channel_id, kind, cursor)
select o.account_id, o.id, o.kind, a.audit_sequence
from objects o join accounts a on a.account_id = o.account_id
where o.kind = any($1::text[])
  and not exists (select from deliveries d where d.account_id = o.account_id and d.channel_id = o.id)
on conflict do nothing
returning 1`;
