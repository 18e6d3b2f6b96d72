import type { Call, Engine } from '../../commit/engine.ts';
import { likeText } from '../../db/logs/feed-read.ts';
import { type Condition, proxyFeed, type Range } from '../../db/logs/feeds.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { unmappedAddress } from '../../lib/net/address.ts';
import type { RequestResult, SortOrder } from '../../model/declare/list-words.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { ProxyLogSort } from '../../operations/proxy-events.ts';
import {
  allOf,
  allTime,
  anyOf,
  beginsWith,
  containsPart,
  emptyPage,
  equalsAnyKey,
  equalsAnyText,
  equalsNoKey,
  hasTerms,
  hasUnlistedValues,
  type KnownSlice,
  type Log,
  readSlices,
  readValuesContaining,
  type SelectedSlices,
  selectSlices,
} from './conditions.ts';
import { allRecordsSliceKey, type Slice, sliceKey, unlistedValue } from './count-slices.ts';
import { type Page, type PageLimits, readPage, type Split } from './pages.ts';
import { findUserIdsByText, type UserFilter, userIdsOf } from './people.ts';

/** Query for the log of the reverse proxies. */
export interface ProxyLogQuery extends Partial<Range> {
  readonly search?: string;
  readonly source_ip?: string;
  readonly host?: string;
  /** Part of the path. */
  readonly path?: string;
  readonly user: UserFilter;
  readonly method?: string;
  readonly status?: RequestResult;
  readonly status_code?: number;
  readonly sort: ProxyLogSort;
  readonly order: SortOrder;
  readonly page: number;
  readonly page_size: number;
}

/** Columns to sort by, for each sort. */
const columns: Readonly<Record<ProxyLogSort, readonly string[]>> = {
  timestamp: ['timestamp'],
  url: ['host', 'path'],
  host: ['host'],
  path: ['path'],
  method: ['method'],
  status_code: ['status_code'],
  duration: ['duration_ms'],
  source_ip: ['source_ip'],
  user_id: ['user_id'],
  auth_method: ['auth_method_used'],
  reason: ['reason'],
};

/** Reads a page of the requests that the account's reverse proxies handled. */
export async function readProxyLog(
  engine: Engine,
  call: Call,
  query: ProxyLogQuery,
  limits?: PageLimits,
): Promise<Page> {
  const log: Log = { database: engine.database, feed: proxyFeed, account: call.account };
  const slices = await selectSlices(log, requestedSlice(query), valuesOf);
  if (slices === 'none') return emptyPage;
  const selected = await otherConditionsOf(log, query, await engine.snapshots.atLeast(call.account, call.revision));
  if (selected === 'none') return emptyPage;
  const { conditions: others, split } = selected;
  const counted = slices === undefined ? [allRecordsSliceKey] : slices.counted;
  return readPage(engine.database, {
    ...{ feed: proxyFeed, account: call.account },
    range: { from: query.from ?? allTime.from, to: query.to ?? allTime.to },
    conditions: [...(slices === undefined ? [] : [slices.condition]), ...others],
    ...(others.length === 0 && counted !== undefined ? { slices: counted } : {}),
    ...(others.length === 1 && slices === undefined && split !== undefined ? { split } : {}),
    isIndexed: isIndexed(query, slices, others),
    sort: columns[query.sort],
    order: query.order,
    limit: query.page_size,
    offset: (query.page - 1) * query.page_size,
    ...(limits === undefined ? {} : { limits }),
  });
}

/**
 * Returns whether one index covers the query. Each column that can be queried has an index with the time, but there is
 * no index for conditions on several columns.
 */
function isIndexed(
  { search }: ProxyLogQuery,
  slices: SelectedSlices | undefined,
  others: readonly Condition[],
): boolean {
  if (slices !== undefined) return others.length === 0 && slices.counted !== undefined;
  return others.length === 1 && search === undefined;
}

/** Returns the conditions that are not about slices, `none` when no record can match. */
async function otherConditionsOf(log: Log, query: ProxyLogQuery, state: Snapshot): Promise<OtherConditions | 'none'> {
  const users = userIdsOf(state, query.user);
  if (users?.length === 0) return 'none';
  const { source_ip, path, search } = query;
  const found =
    search === undefined ? undefined : await searchConditionFor(log, search, findUserIdsByText(state, search));
  const conditions = [
    ...(users === undefined ? [] : [equalsAnyText('user_id', users)]),
    ...(source_ip === undefined ? [] : [equalsAnyText('source_ip', [unmappedAddress(source_ip) ?? source_ip])]),
    ...(path === undefined
      ? []
      : [anyOf([await listedPathContains(log, path), await unlistedPathContains(log, path)])]),
    ...(found === undefined ? [] : [found.condition]),
  ];
  return { conditions, split: found?.split };
}

interface OtherConditions {
  readonly conditions: readonly Condition[];
  /** The search in two parts. Absent when the roll-ups count no part of it. */
  readonly split: Split | undefined;
}

async function listedPathContains(log: Log, part: string): Promise<Condition> {
  return equalsAnyKey(
    'path_key',
    (await readValuesContaining(log, 'path', part)).map(({ key }) => key),
  );
}

/** Returns the condition that a path that is not listed contains a part. */
async function unlistedPathContains(log: Log, part: string): Promise<Condition> {
  if (!(await hasUnlistedValues(log))) return anyOf([]);
  const ofRest = equalsAnyKey('path_key', [0]);
  if (hasTerms(part)) return allOf([ofRest, containsPart(log, ['path'], part)]);
  return allOf([ofRest, (bind) => `path ilike ${bind(likeText(part))}`]);
}

/**
 * Returns the condition of a free-text search: the text is a part of the request's id, host, path or address, or of a
 * user's name or e-mail address.
 */
async function searchConditionFor(log: Log, text: string, users: readonly string[]): Promise<SearchCondition> {
  const lower = text.toLowerCase();
  const [slices, paths, addresses] = await Promise.all([
    readSlices(log),
    listedPathContains(log, text),
    readValuesContaining(log, 'source_ip', text),
  ]);
  const isOfHost = ({ slice: { host = '' } }: KnownSlice) => host !== unlistedValue && host.includes(lower);
  const others = anyOf([
    paths,
    equalsAnyText(
      'source_ip',
      addresses.map(({ value }) => value),
    ),
    ...(users.length === 0 ? [] : [equalsAnyText('user_id', users)]),
    ...(hasTerms(text)
      ? [containsPart(log, ['id', 'host', 'path', 'source_ip'], text)]
      : // So little is looked for in ids at their beginning only.
        [beginsWith(log, 'id', text), await unlistedPathContains(log, text)]),
  ]);
  return matchHostsOr(slices.filter(isOfHost), others);
}

interface SearchCondition {
  readonly condition: Condition;
  readonly split?: Split;
}

/** Maximum number of hosts for which it is faster to read their counts than to count their records. */
const maxCountedHosts = 32;

/** Returns the condition for records of these hosts, and all other records that match `condition`. */
function matchHostsOr(slices: readonly KnownSlice[], condition: Condition): SearchCondition {
  if (slices.length === 0) return { condition };
  const keys = slices.map(({ key }) => key);
  const ofSlices = equalsAnyKey('slice', keys);
  const either = anyOf([ofSlices, condition]);
  const counted = [...new Set(slices.map(({ slice: { host = '' } }) => sliceKey({ host })))];
  if (counted.length > maxCountedHosts) return { condition: either };
  const others = allOf([equalsNoKey('slice', keys), condition]);
  return { condition: either, split: { slices: counted, ofSlices, others } };
}

/** Returns the part of the query that is about slices. */
function requestedSlice({ host, method, status, status_code }: ProxyLogQuery): Slice {
  return {
    ...(host === undefined ? {} : { host: host.toLowerCase() }),
    ...(method === undefined ? {} : { method: method.toUpperCase() }),
    ...(status_code === undefined ? {} : { status_code: String(status_code) }),
    ...(status === undefined ? {} : { status }),
  };
}

function valuesOf(slice: Slice, name: string): readonly string[] {
  return [name === 'status' ? statusOf(Number(slice['status_code'])) : (slice[name] ?? '')];
}

/** Returns `success` for the statuses 200 to 399, and `failed` for all others. */
export function statusOf(code: number): RequestResult {
  return code >= 200 && code < 400 ? 'success' : 'failed';
}

/** Members that are omitted when they are empty. */
const optional: readonly string[] = [
  ...['source_ip', 'reason', 'user_id', 'auth_method_used', 'country_code', 'city_name', 'subdivision_code'],
  ...['protocol', 'metadata'],
];

const hidden: readonly string[] = ['slice', 'path_key', 'terms'];

/** Returns a record of the log as answers show it. */
export function showProxyRecord(row: JsonObject): JsonObject {
  const shown = Object.entries(row).filter(
    ([name, value]) => !hidden.includes(name) && !(optional.includes(name) && isEmpty(value)),
  );
  // The driver reads the column as a Date. Answers show it in ISO 8601.
  return { ...Object.fromEntries(shown), timestamp: (row['timestamp'] as unknown as Date).toISOString() };
}

function isEmpty(value: unknown): boolean {
  return value === '' || value === null || (isObject(value) && Object.keys(value).length === 0);
}
