import { expect, it } from 'vitest';
import { sharedApi, token } from './setup.ts';

const api = sharedApi();

it('answers that contain the whole account or a secret are sent with `cache-control: no-store`', async () => {
  const { call, app } = api();
  const me = (await call('GET', '/api/users/current')).body.id;
  const key = { name: 'k', type: 'reusable', expires_in: 86400, auto_groups: [], usage_limit: 0 };
  const person = { email: 'eve@example.com', name: 'Eve', role: 'user', auto_groups: [] };
  for (const [method, url, body] of [
    ['GET', '/api/config/backup', undefined],
    ['GET', '/api/config/export', undefined],
    ['GET', '/api/config/export?format=json', undefined],
    ['POST', '/api/users/invites', person],
    ['GET', '/api/users/invites', undefined],
    ['POST', `/api/users/${me}/tokens`, { name: 'a', expires_in: 1 }],
    ['POST', '/api/setup-keys', key],
    ['POST', '/api/reverse-proxies/proxy-tokens', { name: 'p', expires_in: 0 }],
  ] as const) {
    const headers = { authorization: `Token ${token}` };
    const answer = await app.inject({ method, url, headers, ...(body === undefined ? {} : { payload: body }) });
    expect([answer.statusCode, url, answer.headers['cache-control']]).toEqual([200, url, 'no-store']);
  }
});

it('an export, although sent with no-store, is answered with 304 when its ETag matches', async () => {
  for (const format of ['yaml', 'json']) {
    const url = `/api/config/export?format=${format}`;
    const first = await api().call('GET', url);
    const again = await api().call('GET', url, undefined, { 'if-none-match': first.headers['etag'] ?? '' });
    expect([first.status, again.status, again.body]).toEqual([200, 304, '']);
  }
});
