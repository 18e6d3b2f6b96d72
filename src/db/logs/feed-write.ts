import type { JsonObject } from '../../lib/json.ts';
import type { Database } from '../database.ts';
import { type Feed, feedQuery } from './feeds.ts';

/** Records of one account to store in one statement. */
export interface FeedWrite {
  readonly feed: Feed;
  readonly account: string;
  /** Batches of the records. Each batch is stored once, however often it is sent. */
  readonly batches: readonly { readonly reporter: string; readonly batch: string }[];
  /** Rows by column name. `batch` is the index of the row's batch in `batches`. */
  readonly rows: readonly JsonObject[];
  /** Slices in which the records of a slice are counted. */
  readonly parts: readonly { readonly slice: number; readonly part: number }[];
  /** Values to which the keys belong. */
  readonly values: readonly { readonly field: string; readonly key: number; readonly value: string }[];
}

/**
 * Stores records with their roll-ups, all or nothing. Returns the number of new rows, or 0 when the account was
 * deleted.
 */
export async function writeFeed(database: Database, write: FeedWrite): Promise<number> {
  const [row] = await database.lookUp(writeStatement(write));
  database.countWrittenRows(row?.stored ?? 0);
  return row?.stored ?? 0;
}

function writeStatement({ feed, account, batches, rows, parts, values }: FeedWrite) {
  const names = Object.keys(feed.columns).join(', ');
  const typed = Object.entries(feed.columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ');
  return feedQuery<{ readonly stored: number }>(account, ({ bind }) => {
    const count = `${bind(rows.length)}::bigint`;
    return `with present as (
  -- A deletion of the account waits, and deletes these too, or came first.
  select account_id from accounts where account_id = $1 for key share
), given as (
  select reporter, name, at from present, json_to_recordset(${bind(JSON.stringify(batches.map(({ reporter, batch }, at) => ({ reporter, name: batch, at }))))}::json)
    as x(reporter text, name text, at int)
), fresh as (
  insert into feed_batches (account_id, feed, reporter, batch, stored_at)
  select $1, '${feed.name}', reporter, name, now() from given order by reporter, name
  on conflict do nothing returning reporter, batch
), numbered as (
  -- Numbers are for those who receive records; the lock of this row is held until they are committed.
  update feed_numbers n set last = n.last + ${count} from present
  where n.account_id = $1 and n.feed = '${feed.name}'
    and exists (select from record_deliveries d where d.account_id = $1 and d.feed = '${feed.name}')
  returning n.last
), stored as (
  insert into ${feed.table} (account_id, ${names})
  select $1, ${names} from json_to_recordset(${bind(JSON.stringify(rows))}::json) as x(batch int, ${typed})
  where batch in (select at from given join fresh on fresh.reporter = given.reporter and fresh.batch = given.name)
  on conflict do nothing returning timestamp, id, slice
), numbers as (
  insert into ${feed.numbersTable} (account_id, number, timestamp, id)
  select $1, numbered.last - ${count} + row_number() over (), timestamp, id from stored, numbered
), known as (
  insert into feed_values as v (account_id, feed, field, key, value, day)
  select $1, '${feed.name}', field, key, value, (now() at time zone 'UTC')::date
  from present, json_to_recordset(${bind(JSON.stringify(values))}::json) as x(field text, key bigint, value text) order by field, key
  on conflict (account_id, feed, field, key) do update set day = excluded.day where v.day < excluded.day
), hours as (
  insert into feed_hours as h (account_id, feed, slice, hour, count)
  select $1, '${feed.name}', part, hour, sum(count) from (
    select slice, date_trunc('hour', timestamp, 'UTC') as hour, count(*) as count from stored group by 1, 2
  ) s join json_to_recordset(${bind(JSON.stringify(parts))}::json) as x(slice bigint, part bigint) using (slice)
  group by part, hour order by part, hour
  on conflict (account_id, feed, slice, hour) do update set count = h.count + excluded.count
)
select count(*) as stored from stored`;
  });
}
