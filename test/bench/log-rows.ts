import { statement } from '../../src/db/builder.ts';
import type { Database, RunSql } from '../../src/db/database.ts';
import { makePartitions, weekOf } from '../../src/db/logs/feed-partitions.ts';
import { proxyFeed } from '../../src/db/logs/feeds.ts';
import { countedSliceKeys, hashKeyOf, type Slice, sliceKey } from '../../src/features/logs/count-slices.ts';
import { saltOf } from '../../src/features/logs/search-terms.ts';

const day = 86_400_000;
const week = 7 * day;

/** Number of days over which the records are distributed. */
const days = 28;

/** Hosts of the records; `paths` are their paths. */
export const hosts = Array.from({ length: 20 }, (_, at) => `app-${at}.example.com`);
export const paths = Array.from({ length: 2000 }, (_, at) => `/items/${at}/of/${at % 37}`);
/** Length of an id. Ids are 20 characters of a hash, as proxies create them. */
const idLength = 20;
const codes = [200, 200, 200, 304, 404, 502];

const combinations = hosts.flatMap((host) =>
  ['GET', 'POST'].flatMap((method) => codes.map((code) => ({ host, method, status_code: String(code) }) as Slice)),
);

/**
 * Fills the log with SQL, evenly over four weeks, together with its roll-ups. The indexes are created afterwards, which
 * is ten times as fast.
 */
export async function fillLog(database: Database, account: string, now: number, count: number): Promise<void> {
  const start = now - days * day;
  const weeks = Array.from({ length: days / 7 + 2 }, (_, at) => weekOf(start) + at * week);
  await makePartitions(database, proxyFeed, weeks);
  let remake: readonly string[] = [];
  await database.asOwner(async (run) => {
    remake = await dropIndexes(run);
  });
  await database.asOwner(async (run) => {
    await quickly(run);
    await addRecords(run, { account, start, count });
  });
  for (const text of remake)
    await database.asOwner(async (run) => {
      await quickly(run);
      await run(text);
    });
  await database.asOwner((run) => addRollUps(run, account));
  for (const table of ['proxy_log', 'feed_hours', 'feed_values'])
    await database.lookUp(statement(`vacuum analyze ${table}`, []));
}

async function quickly(run: RunSql): Promise<void> {
  await run('set local synchronous_commit = off');
  await run(`set local maintenance_work_mem = '1GB'`);
  await run(`set local work_mem = '256MB'`);
}

/** Drops all indexes of the log. Returns the statements that create them again. */
async function dropIndexes(run: RunSql): Promise<readonly string[]> {
  const indexes = await run(`select indexname as name, indexdef as text from pg_indexes where tablename = 'proxy_log'`);
  const keys = await run(
    `select conname as name, pg_get_constraintdef(oid) as text from pg_constraint where conrelid = 'proxy_log'::regclass and contype = 'p'`,
  );
  const names = new Set(keys.map(({ name }) => name));
  const others = indexes.filter(({ name }) => !names.has(name));
  for (const { name } of keys) await run(`alter table proxy_log drop constraint ${String(name)}`);
  for (const { name } of others) await run(`drop index ${String(name)}`);
  return [
    ...keys.map(({ name, text }) => `alter table proxy_log add constraint ${String(name)} ${String(text)}`),
    // An index that is created on the parent is created on all its partitions.
    ...others.map(({ text }) => String(text).replace(' ON ONLY ', ' ON ')),
  ];
}

interface Filling {
  readonly account: string;
  readonly start: number;
  readonly count: number;
}

async function addRecords(run: RunSql, { account, start, count }: Filling): Promise<void> {
  const slices = combinations.map((slice, at) => ({ at, slice: sliceKey(slice), ...slice }));
  await run(
    'create temp table s on commit drop as select * from json_to_recordset($1::json) as x(at int, slice bigint, host text, method text, status_code int)',
    [JSON.stringify(slices)],
  );
  await run(
    'create temp table p on commit drop as select * from json_to_recordset($1::json) as x(at int, path text, path_key bigint)',
    [JSON.stringify(paths.map((path, at) => ({ at, path, path_key: hashKeyOf(path) })))],
  );
  for (const table of ['s', 'p']) await run(`analyze ${table}`);
  await run(
    `insert into proxy_log (account_id, timestamp, id, service_id, method, host, path, duration_ms, status_code, source_ip, reason, user_id,
       auth_method_used, country_code, city_name, subdivision_code, bytes_upload, bytes_download, protocol, metadata, slice, path_key, terms)
     select $1, to_timestamp($2::bigint / 1000) + n * ($3::bigint::float8 / $4::bigint) * interval '1 millisecond', id.text, 'service', s.method, s.host, p.path,
       n * 7919 % 2000, s.status_code, '10.0.' || n % 20 || '.' || n % 251, '', case when n % 5 = 0 then 'u' || n / 5 % 50 else '' end, '', 'CH', '', '', n % 1000, n % 9000, 'http', null, s.slice, p.path_key, array[${terms()}]
     from generate_series(1, $4::bigint) n cross join lateral (select substr(md5(n::text), 1, ${idLength}) as text) id
     cross join lateral (select convert_to(id.text, 'UTF8') as b offset 0) as bytes join s on s.at = n * 7919 % ${slices.length} join p on p.at = n * 104729 % ${paths.length}`,
    [account, start, days * day, count, saltOf(account)],
  );
}

/** Returns SQL for the search terms of an id, equal to the terms that the intake computes. */
function terms(): string {
  const packed = (...at: readonly number[]): string =>
    at.map((byteIndex, index) => `(get_byte(bytes.b, ${byteIndex}) << ${10 * (at.length - 1 - index)})`).join(' | ');
  const triples = Array.from({ length: idLength - 2 }, (_, at) => `(${packed(at, at + 1, at + 2)}) # $5::int`);
  return [...[packed(0), packed(0, 1)].map((text) => `1073741824 + ((${text}) # $5::int)`), ...triples].join(', ');
}

async function addRollUps(run: RunSql, account: string): Promise<void> {
  const parts = combinations.flatMap((slice) => {
    const status = { status: /^[23]/.test(slice['status_code'] ?? '') ? 'success' : 'failed' };
    return countedSliceKeys(slice, [status]).map((part) => ({ slice: sliceKey(slice), part }));
  });
  const values = [
    ...combinations.map((slice) => ({ field: 'slice', key: sliceKey(slice), value: JSON.stringify(slice) })),
    ...paths.map((path) => ({ field: 'path', key: hashKeyOf(path), value: path })),
  ];
  const unique = [...new Map(values.map((value) => [`${value.field} ${value.key}`, value])).values()];
  const distinct = [...new Map(parts.map((part) => [`${part.slice} ${part.part}`, part])).values()];
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
}
