import type { JsonObject } from '../../lib/json.ts';
import type { SortOrder } from '../../model/declare/list-words.ts';
import type { Database } from '../database.ts';
import { type Bind, type Feed, feedQuery, type Selection, whereOf } from './feeds.ts';

/** Number of records in an hour, and number of these records that are in the selected slices. */
export interface HourRow {
  readonly hour: Date;
  readonly all: number;
  readonly selected: number;
}

/**
 * Returns the hours of a feed that contain records, newest first, with counts by slice. Returns hours that overlap the
 * range.
 */
export async function readHours(
  database: Database,
  { feed, account, range }: Pick<Selection, 'feed' | 'account' | 'range'>,
  all: number,
  selected: readonly number[],
): Promise<readonly HourRow[]> {
  return database.lookUp(
    feedQuery<HourRow>(account, ({ bind }) => {
      const allParameter = bind(all);
      const list = `${bind([...selected])}::bigint[]`;
      return `select hour, coalesce(sum(count) filter (where slice = ${allParameter}::bigint), 0) as all,
  coalesce(sum(count) filter (where slice = any(${list})), 0) as selected
from feed_hours where account_id = $1 and feed = '${feed.name}'
  and slice = any(${list} || ${allParameter}::bigint)
  and hour >= ${bind(range.from)}::timestamptz - interval '1 hour' and hour <= ${bind(range.to)}::timestamptz
group by hour order by hour desc`;
    }),
  );
}

/**
 * Returns the listed keys and values of a field: values that contain a text, ignoring case, or all values. Intake
 * limits the number of listed values.
 */
export async function readValues(
  database: Database,
  feed: Feed,
  account: string,
  field: string,
  containing?: string,
): Promise<readonly { readonly key: number; readonly value: string }[]> {
  return database.lookUp(
    feedQuery(account, ({ bind }) => {
      const part = containing === undefined ? '' : ` and value ilike ${bind(likeText(containing))}`;
      return `select key, value from feed_values
where account_id = $1 and feed = '${feed.name}' and field = ${bind(field)}${part}`;
    }),
  );
}

/** Returns every listed value of an account, and whether it was last seen on `day` or later. */
export async function readListedValues(
  database: Database,
  feed: Feed,
  account: string,
  day: string,
): Promise<readonly { readonly field: string; readonly key: number; readonly today: boolean }[]> {
  return database.lookUp(
    feedQuery(
      account,
      ({ bind }) =>
        `select field, key, day >= ${bind(day)}::date as today from feed_values where account_id = $1 and feed = '${feed.name}'`,
    ),
  );
}

/** Returns the `like` pattern that finds a text within other texts. */
export function likeText(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

/** Returns the number of records of a selection, counted up to `limit`. */
export async function countRecords(database: Database, selection: Selection, limit: number): Promise<number> {
  const { feed, account } = selection;
  const [row] = await database.lookUp(
    feedQuery<{ readonly count: number }>(account, ({ bind }) => {
      const where = whereOf(selection, bind, feed.table);
      return `select count(*) as count from (select 1 from ${feed.table} where ${where} limit ${bind(limit)}::bigint) x`;
    }),
  );
  return row?.count ?? 0;
}

/** Returns, for each of these moments, the share of matching records among the next `size` records after the moment. */
export async function sampleShares(
  database: Database,
  selection: Selection,
  moments: readonly Date[],
  size: number,
): Promise<readonly number[]> {
  const { feed, account, range } = selection;
  const rows = await database.lookUp(
    feedQuery<{ readonly share: number }>(account, ({ bind }) => {
      const fits = conditionsOf(selection, bind);
      const texts = moments.map((moment) => moment.toISOString());
      return `select s.share from unnest(${bind(texts)}::timestamptz[]) as m(moment), lateral (
  select coalesce(avg((${fits})::int), 0)::float8 as share from (
    select * from ${feed.table} where account_id = $1 and timestamp >= m.moment
      and timestamp <= ${bind(range.to)}::timestamptz order by timestamp limit ${bind(size)}::bigint
  ) ${feed.table}
) s`;
    }),
  );
  return rows.map(({ share }) => share);
}

/** Sorting, size and position of a page of records. */
export interface RecordPage {
  /** Columns to sort by, the most important first. Time and id break ties. */
  readonly sort: readonly string[];
  readonly order: SortOrder;
  readonly limit: number;
  readonly offset: number;
  /**
   * `scan`: reads records by time until the page is full, at most this number of records. `find`: finds all matching
   * records by indexes. `narrow`: like `find`, if a single index contains all matching records with their times, so
   * that only the records of the page are read. `sort`: reads all records and sorts them.
   */
  readonly strategy: { readonly scan: number } | 'find' | 'narrow' | 'sort';
}

/** Returns a page of records. */
export async function readRecords(
  database: Database,
  selection: Selection,
  page: RecordPage,
): Promise<readonly JsonObject[]> {
  return database.lookUp(
    feedQuery<JsonObject>(selection.account, ({ bind }) => {
      if (page.strategy === 'narrow') return narrowText(selection, page, bind);
      const limits = `limit ${bind(page.limit)}::bigint offset ${bind(page.offset)}::bigint`;
      if (page.strategy === 'find') return findText(selection, page, limits, bind);
      const { table, columns } = selection.feed;
      const names = Object.keys(columns).join(', ');
      if (page.strategy === 'sort')
        return `select ${names} from ${table} where ${whereOf(selection, bind, table)} ${orderBy(page)} ${limits}`;
      const all = whereOf({ ...selection, conditions: [] }, bind, table);
      const fits = conditionsOf(selection, bind);
      return `select ${names} from (
  select * from ${table} where ${all} ${orderBy(page)} limit ${bind(page.strategy.scan)}::bigint
) ${table} where ${fits} ${limits}`;
    }),
  );
}

/**
 * The part that finds the records has no limit. With a limit, the planner would scan by time in the hope of finding
 * rare records early.
 */
function findText(selection: Selection, page: RecordPage, limits: string, bind: Bind): string {
  const { table, columns } = selection.feed;
  const names = Object.keys(columns)
    .map((column) => `${table}.${column}`)
    .join(', ');
  return `with found as materialized (
  select timestamp, id from ${table} where ${whereOf(selection, bind, table)}
), page as materialized (select timestamp, id from found ${orderBy(page)} ${limits})
select ${names} from page join ${table} on ${table}.account_id = $1 and ${table}.timestamp = page.timestamp and ${table}.id = page.id
order by ${table}.timestamp ${page.order}, ${table}.id ${page.order}`;
}

/**
 * First reads the times of all matching records from an index alone, then the records between the times of the page.
 */
function narrowText(selection: Selection, { order, limit, offset }: RecordPage, bind: Bind): string {
  const { table, columns } = selection.feed;
  const isEarlier =
    order === 'desc'
      ? `timestamp > (select max(timestamp) from page)`
      : `timestamp < (select min(timestamp) from page)`;
  const [most, skipped] = [bind(limit), bind(offset)];
  return `with found as materialized (
  select timestamp from ${table} where ${whereOf(selection, bind, table)}
), page as materialized (select timestamp from found order by timestamp ${order} limit ${most}::bigint offset ${skipped}::bigint)
select ${Object.keys(columns).join(', ')} from ${table}
where ${whereOf(selection, bind, table)}
  and timestamp >= (select min(timestamp) from page) and timestamp <= (select max(timestamp) from page)
order by timestamp ${order}, id ${order}
limit ${most}::bigint offset ${skipped}::bigint - (select count(*) from found where ${isEarlier})`;
}

function conditionsOf({ conditions }: Selection, bind: Bind): string {
  return conditions.map((condition) => `(${condition(bind)})`).join(' and ') || 'true';
}

function orderBy({ sort, order }: RecordPage): string {
  const columns = [...sort.filter((column) => column !== 'timestamp'), 'timestamp', 'id'];
  return `order by ${columns.map((column) => `${column} ${order}`).join(', ')}`;
}
