import type { Call, Engine } from '../engine/engine.ts';
import { isObject, type JsonObject } from '../lib/json.ts';
import { likeText, readValues } from '../store/feed-read.ts';
import { type Condition, proxyFeed, type Range } from '../store/feeds.ts';
import { type Page, type PageLimits, readPage } from './pages.ts';
import { type Persons, userIdsOf, usersNamed } from './people.ts';
import { allSlice, type Slice, sliceKey } from './slices.ts';

/** What the log of reverse proxies is asked for. */
export interface ProxyLogQuery extends Partial<Range> {
  readonly search?: string;
  readonly source_ip?: string;
  readonly host?: string;
  /** A part of the path. */
  readonly path?: string;
  readonly user: Persons;
  readonly method?: string;
  readonly status?: 'success' | 'failed';
  readonly status_code?: number;
  readonly sort: ProxyLogSort;
  readonly order: 'asc' | 'desc';
  readonly page: number;
  readonly page_size: number;
}

/** By what the log can be sorted, and the columns that make it. */
export const proxyLogSorts = {
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
} as const;

export type ProxyLogSort = keyof typeof proxyLogSorts;

/** Values that a part may be of; a part of more of them is looked for in the records themselves. */
const mostValues = 20_000;

/** A page of the requests that went through the account's reverse proxies. */
export async function readProxyLog(
  engine: Engine,
  call: Call,
  query: ProxyLogQuery,
  limits?: PageLimits,
): Promise<Page> {
  const conditions: Condition[] = [];
  const nothing: Page = { records: [], total: 0, isEstimate: false };
  const slices = await slicesOf(engine, call.account, query);
  if (slices?.keys.length === 0) return nothing;
  if (slices !== undefined) conditions.push((bind) => `slice = any(${bind(slices.keys)}::bigint[])`);
  const isOfSlices = await addOthers(engine, call, query, conditions);
  if (isOfSlices === undefined) return nothing;
  return readPage(engine.database, {
    feed: proxyFeed,
    account: call.account,
    range: { from: query.from ?? new Date(0), to: query.to ?? new Date('2999-01-01T00:00:00Z') },
    conditions,
    ...(isOfSlices ? { slices: slices?.counted ?? [allSlice] } : {}),
    sort: proxyLogSorts[query.sort],
    order: query.order,
    limit: query.page_size,
    offset: (query.page - 1) * query.page_size,
    ...(limits === undefined ? {} : { limits }),
  });
}

/** Adds the conditions that are not about slices; answers whether there are none, `undefined` when nothing can fit. */
async function addOthers(
  engine: Engine,
  call: Call,
  query: ProxyLogQuery,
  conditions: Condition[],
): Promise<boolean | undefined> {
  const before = conditions.length;
  const state = await engine.snapshots.at(call.account, call.revision);
  const users = userIdsOf(state, query.user);
  if (users?.length === 0) return undefined;
  if (users !== undefined) conditions.push((bind) => `user_id <> '' and user_id = any(${bind([...users])}::text[])`);
  const { source_ip, path, search } = query;
  if (source_ip !== undefined) conditions.push((bind) => `source_ip = ${bind(source_ip)}`);
  if (path !== undefined) conditions.push(await partOf(engine, call.account, 'path', path));
  if (search !== undefined) conditions.push(await searchFor(engine, call.account, search, usersNamed(state, search)));
  return conditions.length === before;
}

/** The condition that a part of a path or an address is this text, by the keys of the values that have it. */
async function partOf(engine: Engine, account: string, field: 'path' | 'source_ip', part: string): Promise<Condition> {
  const found = await readValues(engine.database, proxyFeed, account, field, { containing: part, limit: mostValues });
  if (found.length === mostValues) return (bind) => `${field} ilike ${bind(likeText(part))}`;
  if (field === 'path') return (bind) => `path_key = any(${bind(found.map(({ key }) => key))}::bigint[])`;
  return (bind) => `source_ip = any(${bind(found.map(({ value }) => value))}::text[])`;
}

/** Whatever people look for: the beginning of a request's id, a part of host, path or address, or somebody. */
async function searchFor(engine: Engine, account: string, text: string, users: readonly string[]): Promise<Condition> {
  const [hosts, path, address] = await Promise.all([
    combinations(engine, account, ({ host = '' }) => host.toLowerCase().includes(text.toLowerCase())),
    partOf(engine, account, 'path', text),
    partOf(engine, account, 'source_ip', text),
  ]);
  return (bind) =>
    [
      ...(hosts.length === 0 ? [] : [`slice = any(${bind([...hosts])}::bigint[])`]),
      path(bind),
      address(bind),
      ...(users.length === 0 ? [] : [`(user_id <> '' and user_id = any(${bind([...users])}::text[]))`]),
      beginsWith('id', text, bind),
    ].join(' or ');
}

/** The texts of a column in byte order that begin with this one. */
function beginsWith(column: string, text: string, bind: (value: unknown) => string): string {
  return `(${column} >= ${bind(text)} and ${column} < ${bind(`${text}\u{10ffff}`)})`;
}

interface WantedSlices {
  /** The slices of records that fit. */
  readonly keys: readonly number[];
  /** The slices whose counts make the total. */
  readonly counted: readonly number[];
}

/** The slices that host, method and status ask for; `undefined` when they are not asked for. */
async function slicesOf(
  engine: Engine,
  account: string,
  { host, method, status, status_code }: ProxyLogQuery,
): Promise<WantedSlices | undefined> {
  const asked: Slice = {
    ...(host === undefined ? {} : { host: host.toLowerCase() }),
    ...(method === undefined ? {} : { method: method.toUpperCase() }),
    ...(status_code === undefined ? {} : { status_code: String(status_code) }),
    ...(status === undefined ? {} : { status }),
  };
  const names = Object.entries(asked);
  if (names.length === 0) return undefined;
  const keys = await combinations(engine, account, (slice) => names.every(([name, value]) => slice[name] === value));
  return { keys, counted: names.length === 1 ? [sliceKey(asked)] : keys };
}

/** The keys of the combinations of host, method and status that fit. */
async function combinations(
  engine: Engine,
  account: string,
  fits: (slice: Slice) => boolean,
): Promise<readonly number[]> {
  const known = await readValues(engine.database, proxyFeed, account, 'slice', { limit: 1_000_000 });
  return known.filter(({ value }) => fits(withStatus(JSON.parse(value) as Slice))).map(({ key }) => key);
}

function withStatus(slice: Slice): Slice {
  return { ...slice, status: statusOf(Number(slice['status_code'])) };
}

/** Whether a status says that a request went well. */
export function statusOf(code: number): 'success' | 'failed' {
  return code >= 200 && code < 400 ? 'success' : 'failed';
}

/** Members that are left out when they are empty. */
const optional: readonly string[] = [
  ...['source_ip', 'reason', 'user_id', 'auth_method_used', 'country_code', 'city_name', 'subdivision_code'],
  ...['protocol', 'metadata'],
];

const hidden: readonly string[] = ['slice', 'path_key'];

/** A record of the log as it is told. */
export function showProxyRecord(row: JsonObject): JsonObject {
  const shown = Object.entries(row).filter(
    ([name, value]) => !hidden.includes(name) && !(optional.includes(name) && isEmpty(value)),
  );
  // The driver reads the column as a Date, which JSON shows as ISO 8601.
  return { ...Object.fromEntries(shown), timestamp: (row['timestamp'] as unknown as Date).toISOString() };
}

function isEmpty(value: unknown): boolean {
  return value === '' || value === null || (isObject(value) && Object.keys(value).length === 0);
}
