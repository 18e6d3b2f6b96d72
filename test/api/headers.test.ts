import Fastify from 'fastify';
import { expect, it } from 'vitest';
import { describeRequest } from '../../src/api/headers.ts';
import { openListedRoutes } from '../../src/api/server.ts';
import { makeToken } from '../../src/lib/token.ts';
import { sharedApi, testApi, token } from './setup.ts';

const api = sharedApi();
const authorization = `Token ${token}`;

it('every answer has security headers, including refusals', async () => {
  for (const url of ['/api/groups', '/healthz', '/api/nothing', '/docs']) {
    const { headers } = await api().app.inject({ url, headers: { authorization } });
    expect([url, headers['x-content-type-options'], headers['referrer-policy']]).toEqual([
      url,
      'nosniff',
      'no-referrer',
    ]);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
  }
});

it.each([
  ['trace-7.a:b', 'trace-7.a:b'],
  ['two words', expect.stringMatching(/^[0-9a-f-]{36}$/)],
  ['x'.repeat(129), expect.stringMatching(/^[0-9a-f-]{36}$/)],
])('the request id %j is returned as %s', async (given, expected) => {
  const { headers } = await api().app.inject({ url: '/healthz', headers: { 'x-request-id': given } });
  expect(headers['x-request-id']).toEqual(expected);
});

it('pages of any origin may call the API with tokens, but never with cookies', async () => {
  const { app } = api();
  const asking = { origin: 'https://console.example.com', 'access-control-request-method': 'PUT' };
  const preflight = await app.inject({ method: 'OPTIONS', url: '/api/groups/x', headers: asking });
  expect([preflight.statusCode, preflight.headers['access-control-allow-origin']]).toEqual([204, '*']);
  expect(preflight.headers['access-control-allow-methods']).toContain('PUT');
  const answer = await app.inject({ url: '/api/groups', headers: { authorization, origin: asking.origin } });
  expect(answer.headers['access-control-expose-headers']).toContain('X-Request-Id');
  expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
});

it('OPTIONS returns 204 for existing and for unknown paths', async () => {
  for (const url of ['/api/routes', '/api/nothing'])
    expect((await api().app.inject({ method: 'OPTIONS', url })).statusCode).toBe(204);
});

it('only pages of the configured origins may call the API', async () => {
  await using own = await testApi('postgres', { corsOrigins: ['https://console.example.com'] });
  const allowed = async (origin: string) =>
    (await own.app.inject({ url: '/healthz', headers: { origin } })).headers['access-control-allow-origin'];
  expect(await allowed('https://console.example.com')).toBe('https://console.example.com');
  expect(await allowed('https://elsewhere.example.com')).toBeUndefined();
});

it('guessed tokens are rate-limited, while a valid token is accepted', async () => {
  await using own = await testApi('postgres', { rateLimit: { perMinute: 1, burst: 3 } });
  const guess = (seed: number) =>
    own.app.inject({
      url: '/api/groups',
      headers: { authorization: `Token ${makeToken('nbp_', new Uint8Array(32).fill(seed))}` },
    });
  const statuses: number[] = [];
  for (const seed of [1, 2, 3, 4]) statuses.push((await guess(seed)).statusCode);
  expect(statuses).toEqual([401, 401, 401, 429]);
  expect((await own.app.inject({ url: '/api/groups', headers: { authorization } })).statusCode).toBe(200);
});

it('failed agent and proxy requests are rate-limited per address, while valid requests are accepted', async () => {
  await using own = await testApi('postgres', { rateLimit: { perMinute: 1, burst: 4 } });
  const attempts = [
    ['POST', '/agent/enrol', {}],
    ['POST', '/agent/login', { wg_pub_key: 'x' }],
    ['POST', '/proxy/register', {}],
    ['GET', '/proxy/services', undefined],
    ['GET', '/agent/stream', undefined],
    ['POST', '/proxy/heartbeat', {}],
  ] as const;
  const statuses: number[] = [];
  for (const [method, url, payload] of attempts) {
    const answer = await own.app.inject({ method, url, ...(payload === undefined ? {} : { payload }) });
    statuses.push(answer.statusCode);
    expect(answer.json().code).toBe(answer.statusCode);
    expect(answer.headers['retry-after'] === undefined).toBe(answer.statusCode !== 429);
  }
  expect(statuses).toEqual([401, 401, 401, 401, 429, 429]);
  expect((await own.app.inject({ method: 'POST', url: '/agent/challenge' })).statusCode).toBe(200);
  expect((await own.app.inject({ url: '/api/groups', headers: { authorization } })).statusCode).toBe(200);
});

it('the rate limit counts a request under any spelling of its path', async () => {
  await using own = await testApi('postgres', { rateLimit: { perMinute: 1, burst: 2 } });
  const statuses: number[] = [];
  for (const url of ['/api/groups', '/%61pi/groups', '/ap%69/groups'])
    statuses.push((await own.app.inject({ url, headers: { authorization } })).statusCode);
  expect(statuses).toEqual([200, 200, 429]);
});

it('the rate limit distinguishes addresses in X-Forwarded-For only behind a trusted proxy', async () => {
  const limited = { rateLimit: { perMinute: 1, burst: 1 } };
  await using behind = await testApi('postgres', { ...limited, trustProxy: 1 });
  await using direct = await testApi('postgres', limited);
  const statuses = async ({ app }: typeof behind) => {
    const asked: number[] = [];
    for (const address of ['198.51.100.1', '198.51.100.2'])
      asked.push((await app.inject({ url: '/api/groups', headers: { 'x-forwarded-for': address } })).statusCode);
    return asked;
  };
  expect(await statuses(behind)).toEqual([401, 401]);
  expect(await statuses(direct)).toEqual([401, 429]);
});

it('the log contains no token from a path, and no query', async () => {
  const app = Fastify({ genReqId: () => 'r1' }).decorateRequest('refused', undefined);
  app.post('/api/users/invites/:token/accept', async (request) => describeRequest(request));
  const url = `/api/users/invites/${makeToken('nbi_', new Uint8Array(32).fill(1))}/accept?code=x`;
  expect((await app.inject({ method: 'POST', url })).body).toBe('POST /api/users/invites/****/accept (request r1)');
});

it('registering an open route that is not in the list fails', () => {
  const app = Fastify();
  openListedRoutes(app, []);
  expect(() => app.get('/api/door', { config: { open: true } }, async () => '')).toThrow(
    'GET /api/door is open but not in the list',
  );
});
