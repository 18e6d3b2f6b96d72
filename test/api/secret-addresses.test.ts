import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { doc } from './documents.ts';
import { problemsOf } from './problems.ts';
import { type Answer, sharedApi } from './setup.ts';

const api = sharedApi({ valueFrom: () => 'a value', shareValues: true });
const channels = '/api/integrations/notifications/channels';
const streams = '/api/event-streaming';

const channel = (url: string, headers: JsonObject) => ({
  ...{ type: 'webhook', event_types: ['user.join'], enabled: true },
  target: { url, headers },
});
const stream = (platform: string, config: JsonObject) => ({ platform, config, enabled: true });
const aws = { access_key_id: 'key', secret_access_key: 'secret', region: 'eu-central-1', stream_name: 's' };

async function make(path: string, body: JsonObject): Promise<Answer['body']> {
  const made = await api().call('POST', path, body);
  expect([made.status, made.body.problems]).toEqual([200, undefined]);
  return made.body;
}

describe('a stored secret', () => {
  it.each([
    ['another host', 'https://elsewhere.example.net/mesh'],
    ['another port', 'https://hooks.example.com:8443/mesh'],
    ['another scheme', 'http://hooks.example.com/mesh'],
  ])('of a channel is not kept for %s, and can be given again', async (_, url) => {
    const { id } = await make(channels, channel('https://hooks.example.com/mesh', { Authorization: 'Bearer secret' }));
    const put = (body: JsonObject) => api().call('PUT', `${channels}/${id}`, body);
    const before = await api().revision();
    const refused = await put(channel(url, { Authorization: 'Bearer ****' }));
    expect([refused.status, problemsOf(refused)]).toEqual([
      422,
      ['secret_address_changed /target/headers/Authorization'],
    ]);
    expect(refused.body.message).toContain('give its value again');
    expect(await api().revision()).toBe(before);
    // With the secret in the request, the new address is accepted: only keeping the stored secret is refused.
    expect((await put(channel(url, { Authorization: 'Bearer secret' }))).body.target.url).toBe(url);
  });

  it('of a channel is kept for another path of the same host', async () => {
    const { id } = await make(channels, channel('https://hooks.example.com/mesh', { Authorization: 'Bearer secret' }));
    const moved = channel('https://HOOKS.example.com/other', { Authorization: '****' });
    expect((await api().call('PUT', `${channels}/${id}`, moved)).body.target.url).toBe(moved.target.url);
  });

  it.each([
    ['generic_http', { url: 'https://a.example.com', headers: '{"a":"b"}' }, { url: 'https://b.example.com' }],
    ['datadog', { api_key: 'key' }, { site: 'b.example.com' }],
    ['datadog', { api_key: 'key', api_url: 'https://a.example.com' }, { api_url: 'https://b.example.com' }],
    ['firehose', aws, { endpoint: 'https://b.example.com' }],
  ])('of the stream %s is not kept when only the address is sent', async (platform, config, address) => {
    const { id } = await make(streams, stream(platform, config));
    const put = (changed: JsonObject) => api().call('PUT', `${streams}/${id}`, stream(platform, changed));
    const refused = await put(address);
    const kept = Object.keys(config).filter((name) => /key|headers/.test(name));
    expect([refused.status, [...problemsOf(refused)].sort()]).toEqual([
      422,
      kept.map((name) => `secret_address_changed /config/${name}`).sort(),
    ]);
    expect((await put({ ...config, ...address })).status).toBe(200);
  });

  it.each([
    ['a', { api_token: 't' }, { api_url: 'https://a.example.com' }, { api_url: 'https://b.example.com' }],
    ['b', { secret: 's' }, {}, { login_url: 'https://b.example.com' }],
    ['b', { secret: 's' }, {}, { api_url: 'https://b.example.com' }],
    ['c', { api_token: 't' }, { api_url: 'https://a.example.com' }, { api_url: 'https://b.example.com' }],
    ['d', { client_id: 'c', secret: 's' }, {}, { api_url: 'https://b.example.com' }],
  ])('of the product of vendor %s is not kept for another address', async (vendor, secrets, old, changed) => {
    const path = `/api/integrations/edr/vendor-${vendor}`;
    const match = { match_attributes: {}, last_synced_interval: 24 };
    const rest: Readonly<Record<string, JsonObject>> = {
      ...{ a: match, c: match },
      b: { client_id: 'c', tenant_id: 't', last_synced_interval: 24 },
      d: { cloud_id: 'eu-1', zta_score_threshold: 7 },
    };
    const body = { groups: [await api().group(`${vendor}${JSON.stringify(changed)}`)], enabled: true, ...rest[vendor] };
    await make(path, { ...body, ...secrets, ...old });
    const masked = Object.fromEntries(Object.keys(secrets).map((name) => [name, '****']));
    const refused = await api().call('PUT', path, { ...body, ...masked, ...changed });
    expect([refused.status, problemsOf(refused)]).toEqual([
      422,
      Object.keys(secrets).map((name) => `secret_address_changed /${name}`),
    ]);
    expect((await api().call('PUT', path, { ...body, ...secrets, ...changed })).status).toBe(200);
    await api().call('DELETE', path);
  });

  it('is not kept by documents for another address, and can be given again by them', async () => {
    const apply = (url: string, headers: JsonObject) =>
      api().call('POST', '/api/config/apply?source=hooks', {
        source: 'hooks',
        files: [{ path: 'a.yaml', text: doc('NotificationChannel', 'hook', JSON.stringify(channel(url, headers))) }],
      });
    const named = { valueFrom: { envRef: 'HEDDLE_VALUE_HOOK' } };
    const stored = { valueFrom: { stored: true } };
    expect((await apply('https://hooks.example.com', { 'X-Key': named })).status).toBe(200);
    const refused = await apply('https://elsewhere.example.net', { 'X-Key': stored });
    expect([refused.status, problemsOf(refused)]).toEqual([422, ['secret_address_changed /spec/target/headers/X-Key']]);
    expect((await apply('https://elsewhere.example.net', { 'X-Key': named })).status).toBe(200);
  });

  it('is not sent to the former address by a rollback', async () => {
    const { id } = await make(channels, channel('https://old.example.com', { 'X-Key': 'old' }));
    const then = await api().revision();
    await api().call('PUT', `${channels}/${id}`, channel('https://new.example.com', { 'X-Key': 'new' }));
    const back = await api().call('POST', `/api/config/revisions/${then}/rollback`, { scope: 'all' });
    expect(back.status).toBe(422);
    expect(problemsOf(back)).toEqual(['secret_address_changed /target/headers/X-Key']);
  });
});

describe('a mask', () => {
  it('of a header that is not stored is refused with 422, and the problem names the header', async () => {
    const url = 'https://hooks.example.com';
    const { id } = await make(channels, channel(url, { 'X-Key': 'secret' }));
    const masked = channel(url, { 'X-Other': 'Bearer ****' });
    for (const refused of [
      await api().call('POST', channels, masked),
      await api().call('PUT', `${channels}/${id}`, masked),
    ]) {
      expect([refused.status, problemsOf(refused)]).toEqual([422, ['secret_unset /target/headers/X-Other']]);
      expect(refused.body.message).toContain('`X-Other` is masked, and no value is stored for it');
    }
  });

  it('of an optional credential that is not stored is refused with 422', async () => {
    const refused = await api().call('POST', streams, stream('generic_http', { url: 'https://a.b', headers: '****' }));
    expect([refused.status, problemsOf(refused)]).toEqual([422, ['secret_unset /config/headers']]);
  });
});
