import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { openedSpec } from '../setup/opened.ts';
import { eventsOf } from './events.ts';
import { problemsOf } from './problems.ts';
import { sharedApi, testApi } from './setup.ts';

const api = sharedApi();
const path = '/api/event-streaming';
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/);
const stream = (platform: string, config: Json, more: JsonObject = {}): JsonObject => ({
  ...{ platform, config, enabled: true },
  ...more,
});
const bucket = { access_key_id: 'AK', secret_access_key: 'SK', bucket_name: 'b', region: 'eu-central-1' };
const { bucket_name: _, ...rest } = bucket;
const hose = { ...rest, stream_name: 'n' };
const web = { url: 'https://x.example.com' };
const post = (body: JsonObject) => api().call('POST', path, body);

/** Returns the stored configuration with decrypted secrets. */
async function storedConfig(id: number): Promise<JsonObject> {
  const stored = (await api().engine.snapshots.current(api().account)).get(`eventstreaming-${id}`);
  return openedSpec(api().engine, api().account, stored)['config'] as JsonObject;
}

describe.each([path, '/api/integrations/event-streaming'])('%s', (at) => {
  it('creates, reads, lists, replaces and deletes event streams', async () => {
    await using own = await testApi();
    const made = await own.call('POST', at, stream('s3', bucket, { enabled: false }));
    const config = { ...bucket, access_key_id: '****', secret_access_key: '****' };
    const answer = { id: 1, account_id: own.account, enabled: false, platform: 's3', config };
    expect([made.status, made.body]).toEqual([200, { ...answer, created_at: timestamp, updated_at: timestamp }]);
    expect((await own.call('GET', `${at}/1`)).body).toEqual(made.body);
    expect((await own.call('GET', at)).body).toEqual([made.body]);
    expect((await own.call('GET', path)).body).toEqual([made.body]);
    const on = await own.call('PUT', `${at}/1`, stream('s3', { bucket_name: 'c' }));
    expect(on.body).toMatchObject({ ...answer, enabled: true, config: { ...config, bucket_name: 'c' } });
    const gone = await own.call('DELETE', `${at}/1`);
    expect([gone.status, gone.body]).toEqual([200, {}]);
    for (const [method, body] of [['GET'], ['PUT', stream('s3', {})], ['DELETE']] as [string, JsonObject?][])
      expect((await own.call(method, `${at}/1`, body)).body.message).toContain('not found');
    expect((await own.call('POST', at, stream('s3', bucket))).body.id).toBe(2);
    const events = (await eventsOf(own)).filter((event) => event.startsWith('integration.'));
    expect(events).toEqual(
      ['create', 'update', 'delete', 'create'].map((what) => `integration.${what} {"platform":"s3"}`),
    );
  });
});

it.each<[string, JsonObject, JsonObject]>([
  [
    'datadog',
    { api_key: 'k', site: 'datadoghq.eu', region: 'eu' },
    { api_key: '****', site: 'datadoghq.eu', region: 'eu' },
  ],
  [
    'datadog',
    { api_key: 'k', api_url: 'https://api.example.com' },
    { api_key: '****', api_url: 'https://api.example.com' },
  ],
  [
    's3',
    { access_key: 'a', secret_key: 's', bucket_name: 'b', region: 'r' },
    { access_key: '****', secret_key: '****', bucket_name: 'b', region: 'r' },
  ],
  [
    'firehose',
    { access_key: 'a', secret_key: 's', stream_name: 'n', region: 'r' },
    { access_key: '****', secret_key: '****', stream_name: 'n', region: 'r' },
  ],
  [
    'generic_http',
    { url: 'https://x.example.com', headers: '{"Authorization":"Bearer t"}', body_template: '{{.ID}}' },
    { url: 'https://x.example.com', headers: '****', body_template: '{{.ID}}' },
  ],
])('an event stream of the platform %s accepts the configuration %j', async (platform, config, shown) => {
  const made = await post(stream(platform, config));
  expect([made.status, made.body.config]).toEqual([200, shown]);
  expect(Object.values(await storedConfig(made.body.id)).sort()).toEqual(Object.values(config).sort());
});

it.each<[JsonObject, readonly string[]]>([
  [stream('splunk', {}), ['value_not_allowed /platform']],
  [stream('s3', 'text'), ['type_wrong /config']],
  [stream('s3', { ...bucket, region: 5 }), ['type_wrong /config/region']],
  [stream('s3', { ...bucket, region: null }), ['type_wrong /config/region']],
  [stream('s3', { ...bucket, region: '' }), ['stream_key_required /config']],
  [stream('s3', { ...bucket, secret_access_key: '' }), ['stream_key_required /config']],
  [
    stream('s3', { ...bucket, secret_access_key: '****' }),
    ['secret_unset /config/secret_access_key', 'stream_key_required /config'],
  ],
  [stream('s3', { ...bucket, acess_key: 'x' }), ['stream_key_unknown /config/acess_key']],
  [stream('s3', {}), Array.from({ length: 4 }, () => 'stream_key_required /config')],
  [stream('firehose', { ...bucket }), ['stream_key_required /config', 'stream_key_unknown /config/bucket_name']],
  [stream('datadog', { site: 'datadoghq.eu' }), ['stream_key_required /config']],
  [stream('datadog', { api_key: 'k', api_url: 'x' }), ['url_invalid /config/api_url']],
  [stream('generic_http', { url: 'file:///x' }), ['url_invalid /config/url']],
  [stream('datadog', { api_key: 'k', site: 'https://datadoghq.eu' }), ['stream_value_invalid /config/site']],
  [stream('datadog', { api_key: 'k', region: 'eu-central-1' }), ['stream_value_invalid /config/region']],
  [stream('s3', { ...bucket, region: 'evil.example.com/' }), ['stream_value_invalid /config/region']],
  [stream('s3', { ...bucket, bucket_name: 'b/c' }), ['stream_value_invalid /config/bucket_name']],
  [stream('s3', { ...bucket, prefix: 'a/../b' }), ['stream_value_invalid /config/prefix']],
  [stream('s3', { ...bucket, prefix: '/a' }), ['stream_value_invalid /config/prefix']],
  [stream('s3', { ...bucket, endpoint: 'minio:9000' }), ['stream_value_invalid /config/endpoint']],
  [stream('firehose', { ...hose, stream_name: 'arn:aws:x' }), ['stream_value_invalid /config/stream_name']],
  [stream('generic_http', { ...web, batch: '0' }), ['stream_value_invalid /config/batch']],
  [stream('generic_http', { ...web, headers: 'X: y' }), ['headers_invalid /config/headers']],
  [stream('generic_http', { ...web, headers: '{"X":1}' }), ['headers_invalid /config/headers']],
  [stream('generic_http', { ...web, headers: { Host: 'x' } }), ['headers_invalid /config/headers']],
  [stream('generic_http', { ...web, headers: { X: 1 } }), ['type_wrong /config/headers/X']],
  [stream('generic_http', { ...web, headers: '{"Host":"x"}' }), ['headers_invalid /config/headers']],
  [stream('generic_http', { ...web, headers: '{"a b":"x"}' }), ['headers_invalid /config/headers']],
  [stream('generic_http', { ...web, body_template: '{{.ID' }), ['stream_value_invalid /config/body_template']],
  [stream('generic_http', { ...web, body_template: '{{.Id}}' }), ['stream_value_invalid /config/body_template']],
  [stream('generic_http', { ...web, body_template: '{"a": {{.ID}}' }), ['stream_value_invalid /config/body_template']],
])('the event stream %j is refused: %j', async (body, problems) => {
  const answer = await post(body);
  expect([answer.status, [...problemsOf(answer)].sort()]).toEqual([422, problems]);
});

it.each(['platform', 'config', 'enabled'])('%s is required to create and to replace an event stream', async (name) => {
  const { [name]: _, ...rest } = stream('s3', bucket);
  const { id } = (await post(stream('s3', bucket))).body;
  for (const answer of [await post(rest), await api().call('PUT', `${path}/${id}`, rest)])
    expect([answer.status, answer.body.message]).toEqual([422, `\`${name}\` is required; add it`]);
});

it('replacing an event stream ignores the platform, merges the configuration and keeps masked secrets', async () => {
  const { body } = await post(
    stream('generic_http', { url: 'https://x.example.com', headers: '{}', body_template: '"t"' }),
  );
  const put = (config: Json, platform: Json = 'generic_http') =>
    api().call('PUT', `${path}/${body.id}`, { platform, config, enabled: true });
  const before = await api().revision();
  expect((await api().call('PUT', `${path}/${body.id}`, body)).body).toEqual(body);
  expect((await put({}, 'datadog')).body).toEqual(body);
  expect((await put({ headers: '****' }, 'nonsense')).body).toEqual(body);
  expect((await put({ headers: '' }, 5)).body).toEqual(body);
  expect(await api().revision()).toBe(before);
  await put({ headers: '{"a":"b"}', body_template: null });
  expect(await storedConfig(body.id)).toEqual({ url: 'https://x.example.com', headers: '{"a":"b"}' });
  await put({ headers: { Authorization: 'Bearer t' } });
  expect(await storedConfig(body.id)).toMatchObject({ headers: '{"Authorization":"Bearer t"}' });
  await put({ headers: null });
  expect(await storedConfig(body.id)).toEqual({ url: 'https://x.example.com' });
  expect(problemsOf(await put({ url: null }))).toEqual(['stream_key_required /config']);
});

it('both spellings of a configuration key change the same value', async () => {
  const { id } = (await post(stream('s3', bucket))).body;
  const put = (config: Json) => api().call('PUT', `${path}/${id}`, stream('s3', config));
  await put({ access_key: 'new', secret_key: '****' });
  expect(await storedConfig(id)).toEqual({ ...bucket, access_key_id: 'new' });
  await put({ access_key_id: 'newer' });
  expect(await storedConfig(id)).toEqual({ ...bucket, access_key_id: 'newer' });
});
