import { expect, it } from 'vitest';
import { createVault } from '../../src/db/sealing/vault.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { testDatabase } from '../setup/database.ts';
import { rowsOf } from '../setup/rows.ts';
import { doc } from './documents.ts';
import { type Answer, apiOn, asOperator, type TestApi, testApi, token } from './setup.ts';

const channels = '/api/integrations/notifications/channels';
const streams = '/api/event-streaming';
const url = 'https://hooks.example.com/let-me-in';
const other = 'https://hooks.example.com/let-others-in';

const channel = (address: string): JsonObject => ({
  ...{ type: 'webhook', event_types: ['user.join'], enabled: true },
  target: { url: address },
});
const stream = (address: string): JsonObject => ({ platform: 'generic_http', config: { url: address }, enabled: true });

/** Returns documents that contain the address in plain text, as documents could before addresses were sealed. */
const files = (address: string) => [
  { path: 'hook.yaml', text: doc('NotificationChannel', 'hook', JSON.stringify(channel(address))) },
  { path: 'stream.yaml', text: doc('EventStreaming', 'stream', JSON.stringify(stream(address))) },
];

async function ask(api: TestApi, ...request: Parameters<TestApi['call']>) {
  const answer = await api.call(...request);
  expect([request.slice(0, 2), answer.status, answer.body.problems]).toEqual([request.slice(0, 2), 200, undefined]);
  return answer.body;
}

/** Returns the addresses that the answers show. */
async function shown(api: TestApi): Promise<readonly Json[]> {
  const [hooks, flows] = [await ask(api, 'GET', channels), await ask(api, 'GET', streams)];
  return [...hooks, ...flows].map(({ target, config }) => (target ?? config).url);
}

/** Returns the changes that applying these documents would make. */
async function planned(api: TestApi, source: string, given: readonly JsonObject[]): Promise<Json> {
  const plan = await api.call('POST', '/api/config/plans', { source, files: given });
  expect([plan.status, plan.body.problems]).toEqual([201, undefined]);
  return plan.body.changes;
}

async function backUp(api: TestApi): Promise<Buffer> {
  const headers = { authorization: `Token ${token}` };
  return (await api.app.inject({ method: 'GET', url: '/api/config/backup', headers })).rawPayload;
}

/** Restores the account from an archive, as an owner. Returns the answer. */
async function sendBack(
  api: TestApi,
  payload: Buffer,
): Promise<{ readonly status: number; readonly body: JsonObject }> {
  const headers = { authorization: `Token ${token}`, 'content-type': 'application/gzip' };
  const answer = await api.app.inject({
    method: 'POST',
    url: `/api/config/restore?replace=${api.account}`,
    headers,
    payload,
  });
  return { status: answer.statusCode, body: answer.json() };
}

async function planBack(api: TestApi, revision: number): Promise<Answer['body']> {
  const plan = await api.call('POST', `/api/config/revisions/${revision}/rollback`, { scope: 'all' });
  expect([plan.status, plan.body.problems]).toEqual([201, undefined]);
  return plan.body;
}

async function holding(api: TestApi): Promise<readonly string[]> {
  return (await rowsOf(api.engine.database)).filter((row) => row.includes('let-'));
}

it('addresses that grant access are shown to readers of the object, and are in no table in plain text', async () => {
  const lines: string[] = [];
  await using api = await testApi('postgres', { log: (line) => lines.push(JSON.stringify(line)) });
  const key = { 'idempotency-key': 'once' };
  const made = await ask(api, 'POST', channels, channel(url), key);
  expect(await ask(api, 'POST', channels, channel(url), key)).toEqual(made);
  await ask(api, 'POST', streams, stream(url), { 'idempotency-key': 'twice' });
  await ask(api, 'POST', '/api/config/apply', { source: 'team', files: files(url) });
  expect(await shown(api)).toEqual([url, url, url, url]);
  const saved = await api.call('POST', '/api/config/plans', { source: 'team', files: files(other) });
  const patch = await api.call('GET', `/api/config/plans/${saved.body.id}/patch`);
  const history = await api.call('GET', `/api/config/revisions/${await api.revision()}`);
  const exported = await api.call('GET', '/api/config/export?format=json');
  for (const { body } of [saved, patch, history, exported]) expect(JSON.stringify(body)).not.toContain('let-');
  expect(await holding(api)).toEqual([]);
  expect(lines.filter((line) => line.includes('let-'))).toEqual([]);
});

it('secret addresses do not change when an answer is put back, or an export or the same documents are planned', async () => {
  await using api = await testApi();
  await ask(api, 'POST', '/api/config/apply', { source: 'team', files: files(url) });
  expect(await planned(api, 'team', files(url))).toEqual([]);
  const own = await ask(api, 'POST', channels, channel(url));
  const revision = await api.revision();
  expect((await ask(api, 'PUT', `${channels}/${own.id}`, own)).target).toEqual({ url });
  expect(await api.revision()).toBe(revision);
  const exported: readonly JsonObject[] = (await api.call('GET', '/api/config/export?format=json')).body;
  const found = exported.filter(({ kind }) => kind === 'NotificationChannel' || kind === 'EventStreaming');
  expect(found.map(({ spec }) => spec)).toMatchObject([
    { config: { url: { valueFrom: { stored: true } } } },
    { target: { url: { valueFrom: { stored: true } } } },
    { target: { url: { valueFrom: { stored: true } } } },
  ]);
  const items = [
    { path: 'all.json', text: JSON.stringify({ apiVersion: 'heddle.dev/v1', kind: 'List', items: found }) },
  ];
  expect(await planned(api, 'elsewhere', items)).toEqual([]);
  const [changed] = (await planned(api, 'team', files(other))) as readonly JsonObject[];
  expect(changed?.['units']).toEqual([{ path: 'config[url]', before: '(secret)', after: '(secret)' }]);
});

it('a secret address can come from a value and can be removed, and an invalid one is refused', async () => {
  await using api = await testApi();
  const from = { valueFrom: { envRef: 'HEDDLE_VALUE_HOOK' } };
  const spec = { ...channel(url), target: { url: from } };
  const text = doc('NotificationChannel', 'hook', JSON.stringify(spec));
  const push = (value: string) => ({
    ...{ source: 'team', files: [{ path: 'a.yaml', text }] },
    values: { 'env:HEDDLE_VALUE_HOOK': value },
  });
  await ask(api, 'POST', '/api/config/apply', push(url));
  expect((await ask(api, 'GET', channels))[0].target).toEqual({ url });
  const refused = await api.call('POST', '/api/config/plans', push('ftp://let-me-in'));
  expect(refused.body.problems).toMatchObject([{ code: 'url_invalid', path: '/spec/target/url', file: 'a.yaml' }]);
  expect(JSON.stringify(refused.body)).not.toContain('let-me-in');
  const flow = await ask(api, 'POST', streams, {
    platform: 'datadog',
    config: { api_key: 'k', api_url: url },
    enabled: true,
  });
  const wrong = await api.call('PUT', `${streams}/${flow.id}`, { ...flow, config: { api_url: 'javascript:1' } });
  expect([wrong.status, wrong.body.problems]).toMatchObject([422, [{ code: 'url_invalid', path: '/config/api_url' }]]);
  const blank = await ask(api, 'PUT', `${streams}/${flow.id}`, { ...flow, config: { api_url: '' } });
  expect(blank.config).toEqual({ api_key: '****', api_url: '' });
});

it('a rollback restores a secret address, and restoring an archive of the same state changes nothing', async () => {
  await using api = await testApi();
  await ask(api, 'POST', '/api/config/apply', { source: 'team', files: files(url) });
  const before = await api.revision();
  const archive = await backUp(api);
  const same = await sendBack(api, archive);
  expect([same.status, await api.revision()]).toEqual([200, before]);
  await ask(api, 'POST', '/api/config/apply', { source: 'team', files: files(other) });
  expect(await shown(api)).toEqual([other, other]);
  const plan = await planBack(api, before);
  await ask(api, 'POST', `/api/config/plans/${plan.id}/apply`, { approve: plan.digest });
  expect(await shown(api)).toEqual([url, url]);
  expect(await planned(api, 'team', files(url))).toEqual([]);
});

it('servers of the former sealing form show, accept and compare addresses in plain text until all are sealed', async () => {
  const keys = [new Uint8Array(32).fill(3)];
  const made = await testDatabase('postgres');
  await made.database.asOwner([
    "insert into sealing (form) values ('unbound') on conflict (one) do update set form = 'unbound'",
  ]);
  await using api = await apiOn(made.database, () => made[Symbol.asyncDispose](), {
    vault: createVault(keys, 'unbound'),
  });
  await ask(api, 'POST', '/api/config/apply', { source: 'team', files: files(url) });
  // The rows contain the plain address, so servers that know only the former form can read them.
  const rows = (await holding(api)).map((row) => JSON.parse(row).spec?.target);
  expect(rows).toContainEqual(expect.objectContaining({ url }));
  const before = await api.revision();
  const plan = await api.call('POST', '/api/config/plans', { source: 'team', files: files(other) });
  await ask(api, 'POST', '/api/config/secrets/rotate', {}, asOperator);
  expect(await holding(api)).toEqual([]);
  expect(await shown(api)).toEqual([url, url]);
  expect(await planned(api, 'team', files(url))).toEqual([]);
  // A plan for the same documents has the same digest as before the rotation.
  const again = await api.call('POST', '/api/config/plans', { source: 'team', files: files(other) });
  expect(again.body.digest).toBe(plan.body.digest);
  expect((await planBack(api, before)).changes).toEqual([]);
});
