import { expect, it } from 'vitest';
import { recordSource, recordStatus } from '../../src/features/sources/sources.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { initialStatus } from '../../src/model/sources/status.ts';
import { doc } from './documents.ts';
import { sharedApi, type TestApi, testApi } from './setup.ts';

/** Server for the tests that change no value. */
const shared = sharedApi();

const network = doc(
  'Route',
  'office',
  'network_id: office\nnetwork: 10.1.0.0/16\npeer_groups: [All]\ngroups: [All]\nmetric: 100',
);

/** Applies a route as the source `team`, and returns its URL and body. */
async function route(api: TestApi): Promise<{ readonly url: string; readonly body: JsonObject }> {
  await api.call('POST', '/api/config/apply', { source: 'team', files: [{ path: 'r.yaml', text: network }] });
  const [body] = (await api.call('GET', '/api/routes')).body;
  return { url: `/api/routes/${body.id}`, body };
}

const why = { 'x-break-glass': 'incident 4711' };

it('E54 a write to a managed value is refused without X-Break-Glass, and accepted with it for four hours', async () => {
  await using api = await testApi();
  const { url, body } = await route(api);
  const refused = await api.call('PUT', url, { ...body, metric: 5 });
  expect([refused.status, refused.body.problems]).toEqual([
    409,
    [
      {
        ...{ code: 'managed_field', kind: 'Route', key: 'office', path: '/metric' },
        ...{ source: 'team', file: 'r.yaml', line: 1 },
        message:
          'metric is managed by the source team (r.yaml:1); change it there, or override it for a while: `heddle override Route office metric=5 --reason REASON`, or over HTTP the header X-Break-Glass: REASON',
      },
    ],
  ]);
  const passed = await api.call('PUT', url, { ...body, metric: 5 }, why);
  expect([passed.status, passed.body.metric]).toEqual([200, 5]);
  const drift = await api.call('GET', '/api/config/drift');
  expect(drift.body.units).toMatchObject([
    {
      ...{
        kind: 'Route',
        key: 'office',
        path: 'metric',
        stated: 100,
        effective: 5,
        source: 'team',
        file: 'r.yaml',
        line: 1,
      },
      ...{ why: 'override', reason: 'incident 4711', by: 'machine owner' },
    },
  ]);
  const left = Date.parse(drift.body.units[0].until) - Date.now();
  expect(left / 60_000).toBeGreaterThan(235);
  expect(left / 60_000).toBeLessThanOrEqual(240);
  const again = await api.call('POST', '/api/config/apply', {
    source: 'team',
    files: [{ path: 'r.yaml', text: network }],
  });
  expect([again.body.revision, again.body.plan.warnings.map(({ code }: { code: string }) => code)]).toEqual([
    null,
    ['unit_overridden'],
  ]);
});

it.each([
  [{ 'x-break-glass': '' }, 'X-Break-Glass is empty; state why the value is overridden'],
  [{ 'x-break-glass': '   ' }, 'X-Break-Glass is empty; state why the value is overridden'],
  [{ 'x-break-glass': 'x'.repeat(501) }, 'more than 500 characters'],
  [{ ...why, 'x-break-glass-ttl': '25h' }, 'at most 24h'],
  [{ ...why, 'x-break-glass-ttl': '24h0m1s' }, 'at most 24h'],
  [{ ...why, 'x-break-glass-ttl': '0s' }, 'must be a duration'],
  [{ ...why, 'x-break-glass-ttl': 'long' }, 'must be a duration'],
  [{ 'x-break-glass-ttl': '1h' }, 'send X-Break-Glass'],
] as const)('E55 the headers %j are refused', async (headers, reported) => {
  const api = shared();
  const { url, body } = await route(api);
  const answer = await api.call('PUT', url, { ...body, metric: 5 }, headers);
  expect([answer.status, answer.body.message]).toEqual([422, expect.stringContaining(reported)]);
  expect((await api.call('GET', url)).body.metric).toBe(100);
});

it('E55 the longest duration is accepted, and a reason may be in any language', async () => {
  await using api = await testApi();
  const { url, body } = await route(api);
  const reason = Buffer.from('Störung im Büro', 'utf8').toString('latin1');
  const headers = { 'x-break-glass': reason, 'x-break-glass-ttl': '24h' };
  expect((await api.call('PUT', url, { ...body, metric: 5 }, headers)).status).toBe(200);
  const [unit] = (await api.call('GET', '/api/config/drift?source=team')).body.units;
  const [source] = (await api.call('GET', '/api/config/sources')).body;
  expect(source).toMatchObject({ id: 'team', overrides: { units: 1, until: unit.until } });
  expect([unit.reason, Date.parse(unit.until) > Date.now() + 23 * 3_600_000]).toEqual(['Störung im Büro', true]);
  expect((await api.call('GET', '/api/config/drift?source=other')).body.units).toEqual([]);
});

it('E58 a delete is refused even with X-Break-Glass, and the message states that the header does not help', async () => {
  const api = shared();
  const { url } = await route(api);
  const answer = await api.call('DELETE', url, undefined, why);
  expect([answer.status, answer.body.message]).toEqual([409, expect.stringContaining('it does not delete objects')]);
});

it('E54 the refusal names the commit when the source has one', async () => {
  const api = shared();
  const { url, body } = await route(api);
  const actor = { type: 'source', id: 'team', name: 'team' } as const;
  await recordSource(api.engine, { account: api.account, actor }, { id: 'team', type: 'git', spec: {} });
  await recordStatus(api.engine, api.account, 'team', {
    ...initialStatus,
    lastAppliedCommit: '0123456789abcdef0123456789abcdef01234567',
  });
  expect((await api.call('PUT', url, { ...body, metric: 5 })).body.message).toBe(
    'metric is managed by the source team (r.yaml:1 at commit 0123456789ab); change it there, or override it for a while: `heddle override Route office metric=5 --reason REASON`, or over HTTP the header X-Break-Glass: REASON',
  );
});
