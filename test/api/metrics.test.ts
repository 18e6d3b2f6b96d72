import { expect, it } from 'vitest';
import { createMetricsServer } from '../../src/api/metrics/metrics.ts';
import { watchEventLoop } from '../../src/api/metrics/process.ts';
import { doc } from './documents.ts';
import { asOperator, sharedApi, testApi } from './setup.ts';

const api = sharedApi();

/** Returns the value of a metric, named with its labels as they are written. Returns 0 when it is absent. */
async function metric(name: string): Promise<number> {
  const { body } = await api().call('GET', '/metrics', undefined, asOperator);
  const line = String(body)
    .split('\n')
    .find((text) => text.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? 0);
}

it('metrics count changes by kind and action, and how long commits waited for the lock', async () => {
  const before = await metric('heddle_config_lock_wait_seconds_count');
  await Promise.all(['a', 'b', 'c'].map((name) => api().group(`counted-${name}`)));
  expect(await metric('heddle_config_ops_total{kind="Group",action="create"}')).toBeGreaterThanOrEqual(3);
  expect(await metric('heddle_config_lock_wait_seconds_count')).toBe(before + 3);
});

it('metrics count the plans that a guard stopped, by guard', async () => {
  const files = ['a', 'b', 'c', 'd'].map((name) => ({
    path: `${name}.yaml`,
    text: doc('Group', name, `name: X${name}`),
  }));
  await api().call('POST', '/api/config/apply', { source: 'guarded', files });
  expect(await metric('heddle_config_plan_guard_trips_total{guard="kind"}')).toBe(0);
  const stopped = await api().call('POST', '/api/config/apply', { source: 'guarded', files: files.slice(0, 1) });
  expect(stopped.status).toBe(428);
  expect(await metric('heddle_config_plan_guard_trips_total{guard="kind"}')).toBe(1);
});

it('metrics report the results, drift, breaker and age of each source', async () => {
  const { observer } = api().engine;
  const of = { account: 'a', source: 'team' };
  observer.report({ what: 'reconcile', ...of, result: 'applied', seconds: 0.1 });
  observer.report({ what: 'in_place', ...of, drift: 2 });
  observer.report({ what: 'breaker', ...of, open: true });
  expect(await metric('heddle_config_reconcile_seconds_count{account="a",source="team",result="applied"}')).toBe(1);
  expect(await metric('heddle_config_drift_units{account="a",source="team"}')).toBe(2);
  expect(await metric('heddle_config_breaker_open{account="a",source="team"}')).toBe(1);
  expect(await metric('heddle_config_source_age_seconds{account="a",source="team"}')).toBeGreaterThan(0);
  observer.report({ what: 'breaker', ...of, open: false });
  expect(await metric('heddle_config_breaker_open{account="a",source="team"}')).toBe(0);
});

it('metrics separate sources of the same name by account, and drop a source that another server runs now', async () => {
  const { observer } = api().engine;
  for (const account of ['b', 'c']) {
    observer.report({ what: 'in_place', account, source: 'team', drift: account === 'b' ? 1 : 2 });
    observer.report({ what: 'breaker', account, source: 'team', open: false });
  }
  expect(await metric('heddle_config_drift_units{account="b",source="team"}')).toBe(1);
  const lines = async () => String((await api().call('GET', '/metrics', undefined, asOperator)).body).split('\n');
  const of = async (account: string) => (await lines()).filter((line) => line.includes(`account="${account}"`));
  expect([await of('b'), await of('c')].map(({ length }) => length)).toEqual([3, 3]);
  observer.report({ what: 'left', account: 'b', source: 'team' });
  expect([await of('b'), await of('c')].map(({ length }) => length)).toEqual([0, 3]);
});

it('the metrics server answers /metrics without a token, and 404 to any other path', async () => {
  await using own = await testApi();
  const server = createMetricsServer(own.app);
  const [counted, other] = [await server.inject('/metrics'), await server.inject('/api/groups')];
  expect([counted.statusCode, other.statusCode]).toEqual([200, 404]);
  expect(counted.body).toContain('heddle_http_request_seconds');
  await server.close();
});

it('metrics report version and edition, the process, and its database connections', async () => {
  const [major] = process.version.split('.');
  const { body } = await api().call('GET', '/metrics', undefined, asOperator);
  expect(body).toMatch(
    new RegExp(
      `^heddle_build_info{version="0.0.0-test",edition="self-hosted",database="postgres",node="${major}.*"} 1$`,
      'm',
    ),
  );
  expect(await metric('heddle_database_connections_max')).toBeGreaterThan(0);
  expect(await metric('heddle_database_connections{state="idle"}')).toBeGreaterThan(0);
  expect(await metric('heddle_database_waiting')).toBe(0);
  expect(await metric('heddle_process_cpu_seconds_total')).toBeGreaterThan(0);
  expect(await metric('heddle_process_resident_memory_bytes')).toBeGreaterThan(1e7);
  const busy = await metric('heddle_event_loop_busy_seconds_total');
  expect(await metric('heddle_event_loop_busy_seconds_total')).toBeGreaterThan(busy);
});

it('every metric has a name that begins with `heddle_`', async () => {
  const { body } = await api().call('GET', '/metrics', undefined, asOperator);
  const names = [...String(body).matchAll(/^(\w+)/gm)].map(([name]) => name);
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter((name) => !name.startsWith('heddle_'))).toEqual([]);
});

it('the event loop watcher reports a blocked event loop, and each tick that came due meanwhile', async () => {
  const delays: number[] = [];
  const stop = watchEventLoop((seconds) => delays.push(seconds));
  const end = performance.now() + 450;
  while (performance.now() < end);
  await expect.poll(() => delays.length).toBeGreaterThan(3);
  stop();
  expect(Math.max(...delays)).toBeGreaterThan(0.3);
  expect(delays.filter((delay) => delay > 0.1).length).toBeGreaterThanOrEqual(2);
});
