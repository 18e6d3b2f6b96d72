import { CompiledQuery } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngine } from '../../src/app.ts';
import type { Engine } from '../../src/commit/engine.ts';
import { maintainFeeds } from '../../src/features/logs/maintenance.ts';
import type { PageLimits } from '../../src/features/logs/pages.ts';
import { type ProxyLogQuery, readProxyLog, showProxyRecord } from '../../src/features/logs/proxy-log.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { eachEngine, type TestDatabase, testDatabase } from '../setup/database.ts';
import { noon, storeRequests } from './filled.ts';

const hosts = ['app.example.com', 'api.example.com', 'rare.example.com'];
const minute = 60_000;
const hour = 60 * minute;
const count = 1200;

/** Returns requests spread over three days. The rare host appears in one evening. */
function requests(): readonly JsonObject[] {
  return Array.from({ length: count }, (_, at) => ({
    timestamp: new Date(noon - at * 3.6 * minute).toISOString(),
    id: `req-${String(at).padStart(4, '0')}`,
    service_id: 's',
    method: at % 7 === 0 ? 'POST' : 'GET',
    host: (at > 700 && at < 712 ? hosts[2] : hosts[at % 2]) ?? '',
    path: at % 10 === 0 ? `/Orders/${at}` : `/items/${at % 13}?q=100%_\\`,
    duration_ms: (at * 7919) % 1000,
    status_code: [200, 200, 304, 404, 502, 101][at % 6] ?? 200,
    source_ip: `192.0.2.${at % 40}`,
    user_id: at % 5 === 0 ? `u${at % 3}` : '',
    bytes_upload: at,
    bytes_download: 2 * at,
    ...(at % 50 === 0 ? { metadata: { verdict: 'clean' }, reason: 'Authentication failed' } : {}),
  }));
}

const plain: ProxyLogQuery = { user: {}, sort: 'timestamp', order: 'desc', page: 1, page_size: 50 };

/** Returns the ids that the log must return for a query, by checking every record. */
function expected(query: ProxyLogQuery): readonly string[] {
  const part = (text: unknown, of: string) => String(text).toLowerCase().includes(of.toLowerCase());
  const fits = (record: JsonObject): boolean => {
    const time = Date.parse(String(record['timestamp']));
    const code = Number(record['status_code']);
    const { search } = query;
    return (
      (query.from === undefined || time >= query.from.getTime()) &&
      (query.to === undefined || time <= query.to.getTime()) &&
      (query.host === undefined || record['host'] === query.host) &&
      (query.method === undefined || record['method'] === query.method) &&
      (query.status_code === undefined || code === query.status_code) &&
      (query.status === undefined || (query.status === 'success') === (code >= 200 && code < 400)) &&
      (query.source_ip === undefined || record['source_ip'] === query.source_ip) &&
      (query.path === undefined || part(record['path'], query.path)) &&
      (query.user.id === undefined || record['user_id'] === query.user.id) &&
      (search === undefined ||
        ['host', 'path', 'source_ip'].some((name) => part(record[name], search)) ||
        String(record['id']).startsWith(search))
    );
  };
  return requests()
    .filter(fits)
    .map(({ id }) => String(id));
}

const hours = (from: number, to: number) => ({
  from: new Date(noon - from * 60 * minute),
  to: new Date(noon - to * 60 * minute),
});

const queries: readonly (readonly [string, Partial<ProxyLogQuery>])[] = [
  ['nothing', {}],
  ['a common host', { host: 'app.example.com' }],
  ['a host that was busy for an hour', { host: 'rare.example.com' }],
  ['a host that nobody asked for', { host: 'nobody.example.com' }],
  ['host, method and status together', { host: 'api.example.com', method: 'POST', status: 'failed' }],
  ['success', { status: 'success' }],
  ['failed', { status: 'failed' }],
  ['a status code', { status_code: 101 }],
  ['an address', { source_ip: '192.0.2.17' }],
  ['a part of the path in any case', { path: 'orders/1' }],
  ['signs that mean something in patterns', { path: '100%_\\' }],
  ['the id of a user', { user: { id: 'u1' } }],
  ['a search that many records fit', { search: '.example.com' }],
  ['a search that few records fit', { search: 'rare' }],
  ['a search that fits hosts and ids', { search: 're' }],
  ['a search in a stretch of time', { search: 'app.ex', ...hours(30.5, 1.25) }],
  ['the beginning of the id of a request', { search: 'req-07' }],
  ['a part of an address', { search: '.2.39' }],
  ['an address and a status', { source_ip: '192.0.2.18', status: 'failed' }],
  ['a stretch of time within an hour', hours(5.3, 5.1)],
  ['a stretch of time over days', hours(50.3, 2.1)],
  ['a host in a stretch of time', { host: 'app.example.com', ...hours(30.5, 1.25) }],
  ['a part of the path in a stretch of time', { path: '/items/1', ...hours(30.5, 1.25) }],
  ['a stretch of time that ends before it begins', hours(1, 2)],
  ['time before there was anything', hours(1000, 900)],
];

const small: PageLimits = { exactUpTo: 150, sortedAtMost: 200, scannedAtMost: 60 };

eachEngine('the reverse proxy log (%s)', (kind) => {
  let made: TestDatabase;
  let engine: Engine;
  beforeAll(async () => {
    made = await testDatabase(kind);
    await made.database.asOwner([
      "insert into accounts (account_id, created_at) values ('a', now()), ('b', now()), ('c', now())",
    ]);
    engine = createEngine({ database: made.database });
    const all = requests();
    for (let at = 0; at < all.length; at += 300)
      await storeRequests(made.database, 'a', `b${at}`, all.slice(at, at + 300));
    await storeRequests(made.database, 'b', 'b0', all.slice(0, 10));
  });
  afterAll(() => made[Symbol.asyncDispose]());

  const ask = async (query: Partial<ProxyLogQuery>, limits?: PageLimits) => {
    const call = { account: 'a', revision: 0, actor: { type: 'system', id: 't', name: 't' } } as const;
    const page = await readProxyLog(engine, call, { ...plain, ...query }, limits);
    return { ...page, ids: page.records.map(({ id }) => String(id)) };
  };

  const ways: readonly (readonly [string, PageLimits | undefined])[] = [
    ['with the ways of large logs', small],
    ['as it is used', undefined],
  ];
  // The engines differ only in how they plan queries, and the small limits run every kind of query, so the second
  // engine needs only them.
  describe.each(kind === 'postgres' ? ways : ways.slice(0, 1))('%s', (_, limits) => {
    it.each(queries)(
      'returns the same records as a full scan for %s, newest and oldest first',
      async (_name, query) => {
        const all = expected({ ...plain, ...query });
        for (const order of ['desc', 'asc'] as const) {
          const ordered = order === 'desc' ? all : all.toReversed();
          for (const page of order === 'desc' ? [1, 3] : [2]) {
            const answer = await ask({ ...query, order, page, page_size: 20 }, limits);
            expect(answer.ids).toEqual(ordered.slice((page - 1) * 20, page * 20));
            if (!answer.isEstimate) expect(answer.total).toBe(all.length);
            else expect(all.length).toBeGreaterThan(small.exactUpTo);
          }
        }
      },
    );
  });

  it('pages through requests of the same moment without losing or repeating one', async () => {
    const same = Array.from({ length: 30 }, (_, at) => ({
      timestamp: new Date(noon - (at % 3) * minute).toISOString(),
      ...{ id: `same-${String(at).padStart(2, '0')}`, source_ip: '192.0.2.1', host: 'same.example.com' },
    }));
    await storeRequests(made.database, 'c', 'b0', [...same, ...requests().slice(500)]);
    const call = { account: 'c', revision: 0, actor: { type: 'system', id: 't', name: 't' } } as const;
    const newest = same.toSorted((a, b) => compare(`${b.timestamp} ${b.id}`, `${a.timestamp} ${a.id}`));
    for (const order of ['desc', 'asc'] as const)
      for (const asked of [{ source_ip: '192.0.2.1', from: new Date(noon - hour) }, { host: 'same.example.com' }]) {
        const pages = await Promise.all(
          [1, 2, 3, 4, 5].map((page) =>
            readProxyLog(
              engine,
              call,
              { ...plain, ...asked, order, page, page_size: 7 },
              { ...small, scannedAtMost: 1 },
            ),
          ),
        );
        const ids = pages.flatMap(({ records }) => records.map(({ id }) => id));
        const expectation = newest.map(({ id }) => id);
        expect(ids).toEqual(order === 'desc' ? expectation : expectation.toReversed());
      }
  });

  it('returns exact totals up to a limit, and estimates above it', async () => {
    const few = await ask({ path: '/orders' }, small);
    expect([few.total, few.isEstimate]).toEqual([120, false]);
    const many = await ask({ path: '/items' }, small);
    expect(many.isEstimate).toBe(true);
    expect(Math.abs(many.total - 1080)).toBeLessThan(200);
    const slices = await ask({ status: 'success' }, small);
    expect([slices.total, slices.isEstimate]).toEqual([600, false]);
    const searched = await ask({ search: '.example.com' }, small);
    expect([searched.total, searched.isEstimate]).toEqual([1200, false]);
  });

  it('sorts by any field, and breaks ties by time', async () => {
    const key = (record: JsonObject) => `${String(record['host'])} ${String(record['path'])}`;
    const byUrl = requests().toSorted(
      (a, b) => compare(key(a), key(b)) || compare(String(a['id']), String(b['id'])) * -1,
    );
    const ascending = await ask({ sort: 'url', order: 'asc', page_size: 100 });
    expect(ascending.records.map((record) => key(record))).toEqual(byUrl.slice(0, 100).map(key));
    const slowest = requests().toSorted((a, b) => Number(b['duration_ms']) - Number(a['duration_ms']));
    const { records } = await ask({ sort: 'duration', page_size: 30, page: 2 });
    expect(records.map(({ duration_ms }) => duration_ms)).toEqual(
      slowest.slice(30, 60).map(({ duration_ms }) => duration_ms),
    );
  });

  it('sorts only the newest records when there are too many, and returns the time from which they start', async () => {
    const { records, total, sortedFrom } = await ask({ sort: 'duration', page_size: 100 }, small);
    expect(sortedFrom).toBeInstanceOf(Date);
    const looked = requests().filter(({ timestamp }) => Date.parse(String(timestamp)) >= Number(sortedFrom));
    expect([total, looked.length <= small.sortedAtMost]).toEqual([looked.length, true]);
    const longest = looked.map(({ duration_ms }) => Number(duration_ms)).sort((a, b) => b - a);
    expect(records.map(({ duration_ms }) => duration_ms)).toEqual(longest.slice(0, 100));
  });

  it('stores and counts a report once, however often it is sent', async () => {
    const all = requests();
    await storeRequests(made.database, 'a', 'b0', all.slice(0, 300));
    await storeRequests(made.database, 'a', 'other', all.slice(0, 5));
    const { total } = await ask({ host: 'app.example.com' });
    expect(total).toBe(expected({ ...plain, host: 'app.example.com' }).length);
  });

  it('returns a record without its empty members', async () => {
    const { records } = await ask({ search: 'req-0050' });
    expect(records.map(showProxyRecord)).toEqual([
      {
        ...{ id: 'req-0050', service_id: 's', timestamp: '2026-03-04T09:00:00.000Z', method: 'GET' },
        ...{ host: 'app.example.com', path: '/Orders/50', duration_ms: 950, status_code: 304 },
        ...{ source_ip: '192.0.2.10', user_id: 'u2', bytes_upload: 50, bytes_download: 100 },
        ...{ metadata: { verdict: 'clean' }, reason: 'Authentication failed' },
      },
    ]);
  });

  it('creates partitions ahead, and drops those past the retention period', async () => {
    await using fresh = await testDatabase(kind);
    const { database } = fresh;
    await storeRequests(database, 'a', 'b0', requests());
    const partitions = async () =>
      (
        await database.lookUp(
          CompiledQuery.raw(
            "select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'proxy_log'::regclass order by 1",
          ) as CompiledQuery<{ readonly name: string }>,
        )
      ).map(({ name }) => name);
    await maintainFeeds(database, { proxy: 30, traffic: 30 }, noon);
    const names = ['20260223', '20260302', '20260309', '20260316'].map((day) => `proxy_log_${day}`);
    expect(await partitions()).toEqual(names);
    const dropped = await maintainFeeds(database, { proxy: 1, traffic: 30 }, noon + 8 * 86_400_000);
    expect(dropped).toEqual(
      ['proxy_log', 'proxy_log_numbers'].flatMap((table) => [`${table}_20260223`, `${table}_20260302`]),
    );
    expect((await partitions())[0]).toBe('proxy_log_20260309');
    const left = CompiledQuery.raw('select count(*) as n from feed_hours') as CompiledQuery<{ readonly n: number }>;
    expect(await database.lookUp(left)).toEqual([{ n: 0 }]);
  });
});

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
