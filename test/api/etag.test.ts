import { expect, it } from 'vitest';
import { reportPeer } from '../spec/world.ts';
import { sharedApi, testApi } from './setup.ts';

const api = sharedApi();

it('a GET with the current ETag in If-None-Match returns 304', async () => {
  const id = await api().group('cached');
  for (const url of [`/api/groups/${id}`, '/api/groups', '/api/groups?name=cached', '/api/accounts', '/api/policies']) {
    const { headers } = await api().call('GET', url);
    const etag = headers['etag'] ?? '';
    expect(etag).toMatch(/^"\d+\.[0-9a-f]{16}"$/);
    for (const known of [etag, `"other", ${etag}`, `W/${etag}`, '*']) {
      const again = await api().call('GET', url, undefined, { 'if-none-match': known });
      expect([again.status, again.body, again.headers['etag']]).toEqual([304, '', etag]);
    }
    expect((await api().call('GET', url, undefined, { 'if-none-match': '"1.0000000000000000"' })).status).toBe(200);
  }
});

it('a GET returns 200 when the answer changed although its object did not', async () => {
  const [all] = (await api().call('GET', '/api/groups?name=All')).body;
  const url = `/api/groups/${all.id}`;
  const etag = (await api().call('GET', url)).headers['etag'] ?? '';
  await api().peers('new-member');
  const again = await api().call('GET', url, undefined, { 'if-none-match': etag });
  expect([again.status, again.headers['etag']?.split('.')[0]]).toEqual([200, etag.split('.')[0]]);
});

it('a write with If-Match succeeds only at the current version', async () => {
  const made = await api().call('POST', '/api/groups', { name: 'versioned' });
  const url = `/api/groups/${made.body.id}`;
  const etag = made.headers['etag'] ?? '';
  const put = (name: string, match: string) => api().call('PUT', url, { name }, { 'if-match': match });
  const changed = await put('versioned 2', etag);
  expect(changed.status).toBe(200);
  for (const stale of [etag, '"0.x"', 'nonsense', `W/${changed.headers['etag']}`, '']) {
    if (stale === '') continue;
    const refused = await put('versioned 3', stale);
    expect([refused.status, refused.body.code]).toEqual([412, 412]);
    expect((await api().call('DELETE', url, undefined, { 'if-match': stale })).status).toBe(412);
  }
  expect((await put('versioned 4', `${etag}, ${changed.headers['etag']}`)).status).toBe(200);
  expect((await put('versioned 5', '*')).status).toBe(200);
  expect((await api().call('GET', url)).body.name).toBe('versioned 5');
  const { headers } = await api().call('GET', url);
  expect((await api().call('DELETE', url, undefined, { 'if-match': headers['etag'] ?? '' })).status).toBe(200);
  expect((await put('versioned 6', '*')).status).toBe(404);
});

it('of concurrent writes with If-Match at the same version, one succeeds', async () => {
  const made = await api().call('POST', '/api/groups', { name: 'raced' });
  const match = { 'if-match': made.headers['etag'] ?? '' };
  const writes = Array.from({ length: 10 }, (_, at) =>
    api().call('PUT', `/api/groups/${made.body.id}`, { name: `raced ${at}` }, match),
  );
  const statuses = (await Promise.all(writes)).map(({ status }) => status).sort();
  expect(statuses).toEqual([200, ...Array.from({ length: 9 }, () => 412)]);
});

it('GET of a peer and of all peers returns 200 with a new ETag after the peer connects', async () => {
  await using own = await testApi();
  const [id = ''] = await own.peers('laptop');
  const urls = ['/api/peers', `/api/peers/${id}`];
  const before = await Promise.all(urls.map(async (url) => (await own.call('GET', url)).headers['etag'] ?? ''));
  for (const etag of before) expect(etag).toMatch(/^"\d+\.[0-9a-f]{16}"$/);
  await reportPeer({ api: own }, id, { connected: true, last_seen: '2026-01-02T03:04:05Z' });
  for (const [at, url] of urls.entries()) {
    const again = await own.call('GET', url, undefined, { 'if-none-match': before[at] ?? '' });
    expect([url, again.status]).toEqual([url, 200]);
    expect(JSON.stringify(again.body)).toContain('"connected":true');
  }
});
