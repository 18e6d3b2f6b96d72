import { expect, it } from 'vitest';
import { queryBuilder } from '../../src/db/builder.ts';
import { recordSource } from '../../src/features/sources/sources.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { doc } from './documents.ts';
import { type TestApi, testApi } from './setup.ts';

const network = doc(
  'Route',
  'office',
  'network_id: office\nnetwork: 10.1.0.0/16\npeer_groups: [All]\ngroups: [All]\nmetric: 100',
);
const team = { source: 'team', files: [{ path: 'r.yaml', text: network }] };

/** Applies a route as the source `team` with a conflict mode. Returns its URL and body. */
async function route(api: TestApi, conflictMode: string): Promise<{ readonly url: string; readonly body: JsonObject }> {
  const actor = { type: 'source', id: 'team', name: 'team' } as const;
  await recordSource(api.engine, { account: api.account, actor }, { id: 'team', type: 'push', spec: { conflictMode } });
  await api.call('POST', '/api/config/apply', team);
  const [body] = (await api.call('GET', '/api/routes')).body;
  return { url: `/api/routes/${body.id}`, body };
}

/** Returns code and meta of all drift events, oldest first. */
async function reportedDrift(api: TestApi): Promise<readonly JsonObject[]> {
  const rows = await api.engine.database.lookUp(
    queryBuilder
      .selectFrom('audit_events')
      .select(['activity_code as code', 'meta'])
      .where('activity_code', 'like', 'config.drift.%')
      .orderBy('id')
      .compile(),
  );
  return rows.map(({ code, meta }) => ({ code, ...meta }));
}

const unit = { kind: 'Route', key: 'office', path: 'metric', source: 'team', file: 'r.yaml:1', why: 'api' };

it('E115 drift is reported once while it lasts, however often the source is applied', async () => {
  await using api = await testApi();
  const { url, body } = await route(api, 'observe');
  expect((await api.call('PUT', url, { ...body, metric: 5 })).status).toBe(200);
  for (let times = 0; times < 10; times++) await api.call('POST', '/api/config/apply', team);
  expect(await reportedDrift(api)).toEqual([{ code: 'config.drift.detected', ...unit }]);
});

it('drift corrected by the next reconcile is reported when it begins and when it ends', async () => {
  await using api = await testApi();
  const { url, body } = await route(api, 'correct');
  await api.call('PUT', url, { ...body, metric: 5 });
  await api.call('POST', '/api/config/apply', team);
  expect(await reportedDrift(api)).toEqual([
    { code: 'config.drift.detected', ...unit },
    { code: 'config.drift.resolved', ...unit },
  ]);
});

it('a second change of a drifted value is reported as another drift', async () => {
  await using api = await testApi();
  const { url, body } = await route(api, 'observe');
  await api.call('PUT', url, { ...body, metric: 5 });
  await api.call('PUT', url, { ...body, metric: 6 });
  const reported = await reportedDrift(api);
  expect(reported.map(({ code }) => code)).toEqual([
    'config.drift.detected',
    'config.drift.detected',
    'config.drift.resolved',
  ]);
});
