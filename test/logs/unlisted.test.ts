import { afterAll, beforeAll, expect, it } from 'vitest';
import { createEngine } from '../../src/app.ts';
import type { Engine } from '../../src/commit/engine.ts';
import { statement } from '../../src/db/builder.ts';
import { maintainFeeds } from '../../src/features/logs/maintenance.ts';
import { type ProxyLogQuery, readProxyLog } from '../../src/features/logs/proxy-log.ts';
import { readTraffic, type TrafficQuery } from '../../src/features/logs/traffic-log.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { eachEngine, type TestDatabase, testDatabase } from '../setup/database.ts';
import { noon, storeRequests, storeTraffic } from './filled.ts';

const count = 300;
const day = 86_400_000;
const span = { now: noon, keptMs: 30 * day };
/** Limits so low that most stored values are not listed. */
const atMost = { slice: 5, path: 10, source_ip: 10, end: 4 };

const requests: readonly JsonObject[] = Array.from({ length: count }, (_, at) => ({
  timestamp: new Date(noon - at * 60_000).toISOString(),
  id: `ID-${(at * 7919).toString(36)}-${at}-${at % 3 === 0 ? 'Tail' : 'end'}`,
  method: ['GET', 'POST', 'BREW', 'WHEN'][at % 4] ?? '',
  host: `host-${at % 30}.example.com`,
  path: `/${at}/Made/Up?${'x'.repeat(at)}`,
  status_code: [200, 404, 502][at % 3] ?? 200,
  source_ip: `192.0.2.${at % 200}`,
}));

const part = (text: unknown, of: string) => String(text).toLowerCase().includes(of.toLowerCase());

const proxyQueries: readonly (readonly [string, Partial<ProxyLogQuery>, (record: JsonObject) => boolean])[] = [
  ['nothing', {}, () => true],
  ['a host that is listed', { host: 'host-1.example.com' }, ({ host }) => host === 'host-1.example.com'],
  ['a host that is not', { host: 'HOST-29.example.com' }, ({ host }) => host === 'host-29.example.com'],
  ['a host that nobody asked for', { host: 'nobody.example.com' }, () => false],
  ['a usual method', { method: 'POST' }, ({ method }) => method === 'POST'],
  ['an unusual method', { method: 'BREW' }, ({ method }) => method === 'BREW'],
  ['a status', { status: 'failed' }, ({ status_code }) => Number(status_code) >= 400],
  ['a status code', { status_code: 502 }, ({ status_code }) => status_code === 502],
  [
    'host, method and status',
    { host: 'host-9.example.com', method: 'POST', status: 'success' },
    ({ host, method, status_code }) => host === 'host-9.example.com' && method === 'POST' && status_code === 200,
  ],
  ['a part of paths', { path: 'made/up?xxxxx' }, ({ path }) => part(path, 'made/up?xxxxx')],
  ['a short part of paths', { path: '/7' }, ({ path }) => part(path, '/7')],
  ['an address', { source_ip: '192.0.2.150' }, ({ source_ip }) => source_ip === '192.0.2.150'],
  ['a search for an address', { search: '0.2.15' }, ({ source_ip }) => part(source_ip, '0.2.15')],
  ['a search for a host', { search: 'ST-29.EX' }, ({ host }) => part(host, 'ST-29.EX')],
  ['a search for a path', { search: '/111/made' }, ({ path }) => part(path, '/111/made')],
  ['the middle of an id', { search: '-77-EN' }, ({ id }) => part(id, '-77-EN')],
  ['the end of ids', { search: 'tail' }, ({ id }) => part(id, 'tail')],
  ['the beginning of ids', { search: 'id' }, ({ id }) => String(id).startsWith('ID')],
];

const flows: readonly JsonObject[] = Array.from({ length: 40 }, (_, n) => ({
  ...{ flow_id: `f${n}`, window_start: new Date(noon - n).toISOString(), window_end: new Date(noon - n).toISOString() },
  ...{ protocol: 6, source_ip: '100.64.0.1', source_port: 1000 + n },
  ...{ destination_ip: `203.0.113.${n}`, destination_port: 443 },
  events: [{ type: 'TYPE_START', timestamp: new Date(noon).toISOString() }],
}));

eachEngine('logs with more distinct values than are listed (%s)', (kind) => {
  let made: TestDatabase;
  let engine: Engine;
  beforeAll(async () => {
    made = await testDatabase(kind);
    const { database } = made;
    await database.asOwner(["insert into accounts (account_id, created_at) values ('a', now())"]);
    engine = createEngine({ database });
    for (const at of [0, 100, 200])
      await storeRequests(database, 'a', `b${at}`, requests.slice(at, at + 100), span, atMost);
    await storeRequests(database, 'b', 'b', requests.slice(0, 50), span, atMost);
    await storeTraffic(database, 'a', 'b', flows, {}, span, atMost);
  });
  afterAll(() => made[Symbol.asyncDispose]());
  const call = { account: 'a', revision: 0, actor: { type: 'system', id: 't', name: 't' } } as const;
  const listed = () =>
    made.database.lookUp<{ readonly field: string; readonly count: number }>(
      statement(
        `select feed || ' ' || field as field, count(*)::int as count from feed_values where account_id = 'a' group by 1 order by 1`,
        [],
      ),
    );

  it('list no more values of a field than its limit, however many there are', async () => {
    expect(await listed()).toEqual([
      { field: 'proxy path', count: 10 },
      { field: 'proxy rest', count: 1 },
      { field: 'proxy slice', count: 14 },
      { field: 'proxy source_ip', count: 10 },
      { field: 'traffic end', count: 4 },
      { field: 'traffic rest', count: 1 },
      { field: 'traffic slice', count: 1 },
    ]);
  });

  const small = { exactUpTo: 20, sortedAtMost: 50, scannedAtMost: 10 };
  // The engines differ only in how they plan queries. Every kind of search still runs on both.
  it.each(kind === 'postgres' ? proxyQueries : proxyQueries.slice(-6))(
    'find requests by %s',
    async (_, query, fits) => {
      const plain: ProxyLogQuery = { user: {}, sort: 'timestamp', order: 'desc', page: 1, page_size: 100 };
      const expectation = requests.filter(fits).map(({ id }) => id);
      const { records, total } = await readProxyLog(engine, call, { ...plain, ...query });
      expect([records.map(({ id }) => id), total]).toEqual([expectation.slice(0, 100), expectation.length]);
      const large = await readProxyLog(engine, call, { ...plain, ...query, page: 2, page_size: 10 }, small);
      expect(large.records.map(({ id }) => id)).toEqual(expectation.slice(10, 20));
    },
  );

  it.each<[Partial<TrafficQuery>, number]>([
    [{ search: '203.0.113.3' }, 11],
    [{ search: '203.0.113.37:443' }, 1],
    [{ search: '203.0.113.37:80' }, 0],
    [{ search: '37' }, 1],
    [{ search: '100.64.0.1:1' }, 40],
    [{ protocol: 6 }, 40],
  ])('find traffic by %j', async (query, expected) => {
    expect((await readTraffic(engine, call, { ...query, page: 1, page_size: 100 })).total).toBe(expected);
  });

  it('lose counts and values when their week is deleted, which makes room for new ones', async () => {
    const later = { now: noon + 8 * day, keptMs: day };
    const fresh = requests.slice(0, 1).map((record) => ({
      ...{ ...record, timestamp: new Date(later.now).toISOString() },
      ...{ host: 'new.example.com', path: '/new', source_ip: '198.51.100.1' },
    }));
    await storeRequests(made.database, 'a', 'later', fresh, later, { ...atMost, slice: 50, path: 50, source_ip: 50 });
    await made.database.asOwner([`update feed_values set day = '2026-03-04' where value not like '%new%'`]);
    await maintainFeeds(made.database, { proxy: 1, traffic: 1 }, later.now);
    const left = await made.database.lookUp<{ readonly value: string }>(
      statement('select value from feed_values order by value', []),
    );
    expect(left.map(({ value }) => value)).toEqual([
      '/new',
      JSON.stringify({ host: 'new.example.com', method: 'GET', status_code: '200' }),
    ]);
    const hours = await made.database.lookUp<{ readonly hours: number }>(
      statement('select count(distinct hour)::int as hours from feed_hours', []),
    );
    expect(hours).toEqual([{ hours: 1 }]);
  });
});
