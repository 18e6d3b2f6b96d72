import { createHash, randomUUID } from 'node:crypto';
import { statement } from '../../src/db/builder.ts';
import type { Database } from '../../src/db/database.ts';
import { proxyFeed } from '../../src/db/logs/feeds.ts';
import { createIntake } from '../../src/features/logs/ingest.ts';
import { createListedValuesCache } from '../../src/features/logs/listings.ts';
import { type ProxyLogQuery, readProxyLog } from '../../src/features/logs/proxy-log.ts';
import { readProxyReport } from '../../src/features/logs/proxy-report.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { fillLog, hosts, paths } from './log-rows.ts';
import type { Benchmark, Row } from './result.ts';
import { openWorkplace } from './stand.ts';
import { inTurns, time } from './timing.ts';

const day = 86_400_000;

/**
 * Returns the benchmark of the reverse proxies' log: pages by time with each filter, other sort orders within a day,
 * and storing records.
 */
export function logsOf(count: number): Benchmark {
  return {
    name: 'logs',
    async run(stand) {
      await using workplace = await openWorkplace({ url: await stand.postgres(), poolSize: 4 });
      const { engine, account } = workplace;
      const now = Math.floor(Date.now() / 1000) * 1000;
      const loading = await time(() => fillLog(engine.database, account, now, count));
      process.stderr.write(`${count.toLocaleString('en')} records are there after ${Math.round(loading / 1000)} s\n`);
      const call = { account, revision: 0, actor: { type: 'system', id: 'bench', name: 'bench' } } as const;
      const plain: ProxyLogQuery = { user: {}, sort: 'timestamp', order: 'desc', page: 1, page_size: 50 };
      const rows: Row[] = [];
      for (const [what, query] of Object.entries(queries(now))) {
        const [pages, bare]: [number[], number[]] = [[], []];
        for (let round = 0; round < 20; round += 1) {
          pages.push(await time(() => readProxyLog(engine, call, { ...plain, ...query })));
          bare.push(await time(() => readBare(engine.database, account)));
        }
        rows.push({
          what: `page of the proxy log: ${what}`,
          note: `p95 of 20, ${count.toLocaleString('en')} records`,
          figure: percentile95(pages),
          // Both sides use the same percentile, because other work of the machine affects both.
          reference: percentile95(bare),
          unit: 'ms',
          budget: { is: 'at most', value: 2 },
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
  'the middle of the id of a request': { search: createHash('md5').update('1234').digest('hex').slice(7, 15) },
  'sorted by duration within a day': { sort: 'duration', from: new Date(now - day) },
});

/** Returns the 95th percentile. */
function percentile95(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.95) - 1] ?? 0;
}

/**
 * Reads the newest 100,000 records once. It took about 50 ms when the budget of a page was set, so the budget was 100
 * ms.
 */
async function readBare(database: Database, account: string): Promise<void> {
  const text = `select max(host), max(path), max(duration_ms) from (
    select host, path, duration_ms from proxy_log where account_id = $1 order by timestamp desc limit 100000) newest`;
  await database.lookUp(statement(text, [account]));
}

/** Measures storing reports of 1,000 records. Reference: a bare insert of the same rows into the same table. */
async function storing(database: Database, account: string, now: number): Promise<Row> {
  const size = 1000;
  let batch = 0;
  const records = (): readonly JsonObject[] =>
    Array.from({ length: size }, (_, at) => ({
      ...{ timestamp: new Date(now - at * 50).toISOString(), id: randomUUID(), method: 'GET', status_code: 200 },
      ...{ host: hosts[at % 20] ?? '', path: paths[at % 2000] ?? '', source_ip: `10.1.0.${at % 251}`, duration_ms: at },
    }));
  const listings = createListedValuesCache(database, () => new Date(now).toISOString());
  const read = async (to: string) => {
    batch += 1;
    const of = { account: to, reporter: 'bench', batch: String(batch), records: records() };
    const listing = await listings.of(proxyFeed, to);
    return { listing, report: readProxyReport(of, { now, keptMs: day }, listing).report };
  };
  const intake = createIntake(database);
  const names = Object.keys(proxyFeed.columns);
  const taken = await inTurns(
    15,
    async () => {
      const { listing, report } = await read(account);
      const taken = await time(() => intake.take(report));
      listing.noteListed(report.values);
      return size / (taken / 1000);
    },
    async () => {
      const { rows } = (await read('bare')).report;
      const parameters = rows.flatMap((row) => names.map((name) => row[name] ?? null));
      const tuples = rows.map(
        (_, at) => `('bare', ${names.map((_name, column) => `$${at * names.length + column + 1}`)})`,
      );
      const text = `insert into proxy_log (account_id, ${names.join(', ')}) values ${tuples.join(', ')}`;
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
