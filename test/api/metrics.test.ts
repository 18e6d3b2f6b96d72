import { expect, it } from 'vitest';
import { createMetricsServer } from '../../src/api/metrics.ts';
import { doc } from './documents.ts';
import { asOperator, sharedApi, testApi } from './setup.ts';

const api = sharedApi();

/** The value of a metric, with its labels as they are written; 0 when it is not there. */
async function metric(name: string): Promise<number> {
  const { body } = await api().call('GET', '/metrics', undefined, asOperator);
  const line = String(body)
    .split('\n')
    .find((text) => text.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? 0);
}

it('counts changes by kind and action, and how long commits waited', async () => {
  const before = await metric('config_lock_wait_seconds_count');
  await Promise.all(['a', 'b', 'c'].map((name) => api().group(`counted-${name}`)));
  expect(await metric('config_ops_total{kind="Group",action="create"}')).toBeGreaterThanOrEqual(3);
  expect(await metric('config_lock_wait_seconds_count')).toBe(before + 3);
});

it('counts plans that a guard stopped, by guard', async () => {
  const files = ['a', 'b', 'c', 'd'].map((name) => ({
    path: `${name}.yaml`,
    text: doc('Group', name, `name: X${name}`),
  }));
  await api().call('POST', '/api/config/apply', { source: 'guarded', files });
  expect(await metric('config_plan_guard_trips_total{guard="kind"}')).toBe(0);
  const stopped = await api().call('POST', '/api/config/apply', { source: 'guarded', files: files.slice(0, 1) });
  expect(stopped.status).toBe(428);
  expect(await metric('config_plan_guard_trips_total{guard="kind"}')).toBe(1);
});

it('tells how sources fare', async () => {
  const { observer } = api().engine;
  const of = { account: 'a', source: 'team' };
  observer.report({ what: 'reconcile', ...of, result: 'applied', seconds: 0.1 });
  observer.report({ what: 'in_place', ...of, drift: 2 });
  observer.report({ what: 'breaker', ...of, open: true });
  expect(await metric('config_reconcile_seconds_count{account="a",source="team",result="applied"}')).toBe(1);
  expect(await metric('config_drift_units{account="a",source="team"}')).toBe(2);
  expect(await metric('config_breaker_open{account="a",source="team"}')).toBe(1);
  expect(await metric('config_source_age_seconds{account="a",source="team"}')).toBeGreaterThan(0);
  observer.report({ what: 'breaker', ...of, open: false });
  expect(await metric('config_breaker_open{account="a",source="team"}')).toBe(0);
});

it('tells sources of one name apart, and nothing of one that another server runs now', async () => {
  const { observer } = api().engine;
  for (const account of ['b', 'c']) {
    observer.report({ what: 'in_place', account, source: 'team', drift: account === 'b' ? 1 : 2 });
    observer.report({ what: 'breaker', account, source: 'team', open: false });
  }
  expect(await metric('config_drift_units{account="b",source="team"}')).toBe(1);
  const lines = async () => String((await api().call('GET', '/metrics', undefined, asOperator)).body).split('\n');
  const of = async (account: string) => (await lines()).filter((line) => line.includes(`account="${account}"`));
  expect([await of('b'), await of('c')].map(({ length }) => length)).toEqual([3, 3]);
  observer.report({ what: 'left', account: 'b', source: 'team' });
  expect([await of('b'), await of('c')].map(({ length }) => length)).toEqual([0, 3]);
});

it('answer on an address of their own without a token, and nothing else does', async () => {
  await using own = await testApi();
  const server = createMetricsServer(own.app);
  const [counted, other] = [await server.inject('/metrics'), await server.inject('/api/groups')];
  expect([counted.statusCode, other.statusCode]).toEqual([200, 404]);
  expect(counted.body).toContain('http_request_seconds');
  await server.close();
});
