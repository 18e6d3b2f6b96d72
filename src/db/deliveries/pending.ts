import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** An object with events behind its cursor, or with events that are to be sent again. */
export interface PendingDelivery {
  readonly account: string;
  readonly channel: string;
  /** In milliseconds from now; 0: at once, also because its settings changed since it failed, or enough waits for it now. */
  readonly dueInMs: number;
  /** How many events are behind the cursor, whether or not the channel subscribes to them. */
  readonly behind: number;
  readonly failing: boolean;
}

/**
 * The deliveries of all accounts that have something to do and that no other server is at than this one, the longest waiting
 * first. Its own leases do not count: one that it could not give back would hold a delivery up until it ends.
 */
export async function findPending(
  database: Database,
  owner: string,
  most: { readonly inAll: number; readonly ofAccount: number },
): Promise<readonly PendingDelivery[]> {
  return database.lookUp(statement<PendingDelivery>(pendingText, [owner, most.inAll, most.ofAccount]));
}

function millisecondsTo(moment: string): string {
  return `extract(epoch from ${moment} - clock_timestamp()) * 1000`;
}

const pendingText = `select account, channel, failing, behind, "dueInMs" from (
select d.account_id as account, d.channel_id as channel, d.failures > 0 as failing,
  a.audit_sequence - d.cursor as behind, d.next_at,
  row_number() over (partition by d.account_id order by d.next_at nulls first) as place,
  greatest(0, case when d.tried_revision is not distinct from o.updated_revision then ${millisecondsTo('d.next_at')} end,
    case when a.audit_sequence - d.cursor < d.look_behind then ${millisecondsTo('d.look_at')} end)::float8 as "dueInMs"
from deliveries d
join accounts a on a.account_id = d.account_id
left join objects o on o.account_id = d.account_id and o.id = d.channel_id
where (d.cursor < a.audit_sequence
    or exists (select from set_aside_events s where s.account_id = d.account_id and s.channel_id = d.channel_id and s.retry))
  and not exists (select from leases l where l.account_id = d.account_id and l.name = 'delivery/' || d.channel_id
    and l.until > clock_timestamp() and l.owner <> $1)
) pending where place <= $3
order by next_at nulls first
limit $2`;

/**
 * Gives objects of these kinds a cursor that have none: those of servers of an earlier release. Theirs begin with what
 * happens from now on. Returns how many there were.
 */
export async function adoptChannels(database: Database, kinds: readonly string[]): Promise<number> {
  const rows = await database.lookUp(statement<object>(adoptText, [kinds]));
  return rows.length;
}

const adoptText = `insert into deliveries (account_id, channel_id, kind, cursor)
select o.account_id, o.id, o.kind, a.audit_sequence
from objects o join accounts a on a.account_id = o.account_id
where o.kind = any($1::text[])
  and not exists (select from deliveries d where d.account_id = o.account_id and d.channel_id = o.id)
on conflict do nothing
returning 1`;
