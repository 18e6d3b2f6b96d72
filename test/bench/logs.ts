import { createIntake } from '../../src/feeds/ingest.ts';
import { type ProxyLogQuery, readProxyLog } from '../../src/feeds/proxy-log.ts';
import { readProxyReport } from '../../src/feeds/proxy-report.ts';
import { keyOf, partsOf, type Slice, sliceKey } from '../../src/feeds/slices.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { statement } from '../../src/store/builder.ts';
import type { Database } from '../../src/store/database.ts';
import { makePartitions, weekOf } from '../../src/store/feed-partitions.ts';
import { proxyFeed } from '../../src/store/feeds.ts';
import type { Benchmark, Row } from './result.ts';
import { openWorkplace } from './stand.ts';
import { inTurns, time } from './timing.ts';

const day = 86_400_000;
const days = 28;
const hosts = Array.from({ length: 20 }, (_, at) => `app-${at}.example.com`);
const paths = Array.from({ length: 2000 }, (_, at) => `/items/${at}/of/${at % 37}`);
const codes = [200, 200, 200, 304, 404, 502];

const combinations = hosts.flatMap((host) =>
  ['GET', 'POST'].flatMap((method) => codes.map((code) => ({ host, method, status_code: String(code) }) as Slice)),
);

/** The log of reverse proxies: pages by time with each filter, other sorts within a day, and what it takes to store it. */
export function logsOf(count: number): Benchmark {
  return {
    name: 'logs',
    async run(stand) {
      await using place = await openWorkplace({ url: await stand.postgres(), poolSize: 4 });
      const { engine, account } = place;
      const now = Math.floor(Date.now() / 1000) * 1000;
      await fill(engine.database, account, now, count);
      const call = { account, revision: 0, actor: { type: 'system', id: 'bench', name: 'bench' } } as const;
      const rows: Row[] = [];
      for (const [what, query] of Object.entries(queries(now))) {
        const plain: ProxyLogQuery = { user: {}, sort: 'timestamp', order: 'desc', page: 1, page_size: 50 };
        const taken: number[] = [];
        for (let round = 0; round < 20; round += 1)
          taken.push(await time(() => readProxyLog(engine, call, { ...plain, ...query })));
        const figure = taken.sort((a, b) => a - b)[18] ?? 0;
        const note = `p95 of 20, ${count.toLocaleString('en')} records`;
        rows.push({
          what: `page of the proxy log: ${what}`,
          figure,
          unit: 'ms',
          note,
          budget: { is: 'at most', value: 100 },
        });
      }
      return [...rows, await storing(engine.database, account, now)];
    },
  };
}

const queries = (now: number): Readonly<Record<string, Partial<ProxyLogQuery>>> => ({
  'no filter': {},
  'a deep page': { page: 2000 },
  'a host': { host: 'app-7.example.com' },
  'host, method and status': { host: 'app-7.example.com', method: 'POST', status: 'failed' },
  'a status code': { status_code: 502 },
  'an address': { source_ip: '10.0.1.7' },
  'a user': { user: { id: 'u7' } },
  'a part of many paths': { path: '/items/1' },
  'a part of few paths': { path: '/items/1234/' },
  'a search that fits much': { search: 'app-1' },
  'a search that fits nothing': { search: 'nowhere' },
  'sorted by duration within a day': { sort: 'duration', from: new Date(now - day) },
});

/** Fills the log by SQL, evenly over four weeks, with its roll-ups. */
async function fill(database: Database, account: string, now: number, count: number): Promise<void> {
  const start = now - days * day;
  const weeks = Array.from({ length: days / 7 + 2 }, (_, at) => weekOf(start) + at * 7 * day);
  await makePartitions(database, proxyFeed, weeks);
  const slices = combinations.map((slice, at) => ({ at, slice: sliceKey(slice), ...slice }));
  const parts = combinations.flatMap((slice) => {
    const status = { status: /^[23]/.test(slice['status_code'] ?? '') ? 'success' : 'failed' };
    return partsOf(slice, [status]).map((part) => ({ slice: sliceKey(slice), part }));
  });
  const values = [
    ...combinations.map((slice) => ({ field: 'slice', key: sliceKey(slice), value: JSON.stringify(slice) })),
    ...paths.map((path) => ({ field: 'path', key: keyOf(path), value: path })),
  ];
  const unique = [...new Map(values.map((value) => [`${value.field} ${value.key}`, value])).values()];
  const distinct = [...new Map(parts.map((part) => [`${part.slice} ${part.part}`, part])).values()];
  await database.asOwner(async (run) => {
    await run(
      'create temp table s on commit drop as select * from json_to_recordset($1::json) as x(at int, slice bigint, host text, method text, status_code int)',
      [JSON.stringify(slices)],
    );
    await run(
      'create temp table p on commit drop as select * from json_to_recordset($1::json) as x(at int, path text, path_key bigint)',
      [JSON.stringify(paths.map((path, at) => ({ at, path, path_key: keyOf(path) })))],
    );
    await run(
      `insert into proxy_log select $1, to_timestamp($2::bigint / 1000) + n * ($3::bigint / $4::bigint) * interval '1 millisecond', 'r' || n, 'service', s.method, s.host, p.path,
        n * 7919 % 2000, s.status_code, '10.0.' || n % 20 || '.' || n % 251, '', case when n % 5 = 0 then 'u' || n % 50 else '' end, '', 'CH', '', '', n % 1000, n % 9000, 'http', null, s.slice, p.path_key
       from generate_series(1, $4::bigint) n join s on s.at = n * 7919 % ${slices.length} join p on p.at = n * 104729 % ${paths.length}`,
      [account, start, days * day, count],
    );
    await run(
      `insert into feed_hours select $1, 'proxy', part, hour, sum(count) from (select slice, date_trunc('hour', timestamp, 'UTC') as hour, count(*) as count from proxy_log group by 1, 2) h
       join json_to_recordset($2::json) as x(slice bigint, part bigint) using (slice) group by part, hour`,
      [account, JSON.stringify(distinct)],
    );
    await run(
      `insert into feed_values select $1, 'proxy', field, key, value, now()::date from json_to_recordset($2::json) as x(field text, key bigint, value text)
       union all select $1, 'proxy', 'source_ip', row_number() over (), source_ip, now()::date from (select distinct source_ip from proxy_log) d`,
      [account, JSON.stringify(unique)],
    );
  });
  await database.lookUp(statement('vacuum analyze proxy_log', []));
}

/** Storing reports of 1,000 records, against a bare insert of the same rows into the same table. */
async function storing(database: Database, account: string, now: number): Promise<Row> {
  const size = 1000;
  let batch = 0;
  const records = (): readonly JsonObject[] =>
    Array.from({ length: size }, (_, at) => ({
      ...{ timestamp: new Date(now - at * 50).toISOString(), id: `n${batch}-${at}`, method: 'GET', status_code: 200 },
      ...{ host: hosts[at % 20] ?? '', path: paths[at % 2000] ?? '', source_ip: `10.1.0.${at % 251}`, duration_ms: at },
    }));
  const read = (to: string) => {
    batch += 1;
    const of = { account: to, reporter: 'bench', batch: String(batch), records: records() };
    return readProxyReport(of, { now, keptMs: day }).report;
  };
  const intake = createIntake(database);
  const names = Object.keys(proxyFeed.columns);
  const taken = await inTurns(
    15,
    async () => {
      const report = read(account);
      return size / ((await time(() => intake.take(report))) / 1000);
    },
    async () => {
      const { rows } = read('bare');
      const parameters = rows.flatMap((row) => names.map((name) => row[name] ?? null));
      const places = rows.map(
        (_, at) => `('bare', ${names.map((_name, column) => `$${at * names.length + column + 1}`)})`,
      );
      const text = `insert into proxy_log (account_id, ${names.join(', ')}) values ${places.join(', ')}`;
      return size / ((await time(() => database.lookUp(statement(text, parameters)))) / 1000);
    },
  );
  await intake.close();
  return {
    what: 'records stored, against a bare insert of the same rows',
    ...taken,
    unit: '/s',
    budget: { is: 'at least', value: 0.5 },
  };
}
