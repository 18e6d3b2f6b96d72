import { statement } from '../builder.ts';
import type { Database } from '../database.ts';
import { type Feed, feedQuery } from '../logs/feeds.ts';
import type { EventRow, ReadLimits } from './work.ts';

/** Approximate size of a record without its `meta`, in bytes. */
const approximateRecordBytes = 300;

/**
 * Returns the records of a feed after a number, in the order of the commits that wrote them. A number is assigned under
 * a lock that is held until the record is committed, so a reader that sees a number sees all records before it.
 */
export async function readRecordsAfter(
  database: Database,
  { feed, account, after }: { readonly feed: Feed; readonly account: string; readonly after: number },
  { events, bytes }: ReadLimits,
): Promise<readonly EventRow[]> {
  return database.lookUp(
    feedQuery<EventRow>(
      account,
      ({
        bind,
      }) => `select id, created_at, activity_code, initiator_id, initiator_name, initiator_email, target_id, target_name, meta
from (
  select e.*, sum(${approximateRecordBytes} + octet_length(e.meta::text)) over (order by e.id rows between unbounded preceding and 1 preceding) as bytes
  from (
    select number as id, timestamp as created_at, '${feed.eventCode}' as activity_code, ${feed.eventColumns} from (
      select n.number, r.* from ${feed.numbersTable} n cross join lateral (
        -- One by one, however little is known of the log: it is far larger than what is read.
        select * from ${feed.table} where account_id = $1 and timestamp = n.timestamp and id = n.id offset 0
      ) r where n.account_id = $1 and n.number > ${bind(after)}::bigint order by n.number limit ${bind(events)}::bigint
    ) ${feed.table}
  ) e
) e where coalesce(e.bytes, 0) < ${bind(bytes)}::bigint order by e.id`,
    ),
  );
}

/** Returns the number before the first record of a feed that happened since a time (ISO 8601). */
export async function numberBefore(database: Database, feed: Feed, account: string, since: string): Promise<number> {
  const [row] = await database.lookUp(
    feedQuery<{ readonly number: number | null }>(
      account,
      ({ bind }) => `select coalesce(
  (select min(number) - 1 from ${feed.numbersTable} where account_id = $1 and timestamp >= ${bind(since)}::timestamptz),
  (select last from feed_numbers where account_id = $1 and feed = '${feed.name}')) as number`,
    ),
  );
  return row?.number ?? 0;
}

/**
 * Subscribes objects of these kinds to the records of these feeds, if they are not subscribed yet. Only new records are
 * delivered. Runs outside commits, which never wait for it.
 */
export async function subscribeToFeeds(
  database: Database,
  pairs: readonly { readonly kind: string; readonly feed: Feed['name'] }[],
): Promise<void> {
  const lists = [pairs.map(({ kind }) => kind), pairs.map(({ feed }) => feed)];
  await database.lookUp(statement<object>(subscribeText, lists));
}

const subscribeText = `with missing as (
  select d.account_id, d.channel_id, f.feed
  from deliveries d join unnest($1::text[], $2::text[]) as f(kind, feed) on f.kind = d.kind
  where not exists (select from record_deliveries p
    where p.account_id = d.account_id and p.channel_id = d.channel_id and p.feed = f.feed)
  for key share of d
), numbers as (
  insert into feed_numbers (account_id, feed) select distinct account_id, feed from missing order by 1, 2
  on conflict do nothing
)
insert into record_deliveries (account_id, channel_id, feed, cursor)
select m.account_id, m.channel_id, m.feed,
  coalesce((select n.last from feed_numbers n where n.account_id = m.account_id and n.feed = m.feed), 0)
from missing m
on conflict do nothing
returning 1`;
