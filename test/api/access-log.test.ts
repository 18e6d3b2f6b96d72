import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import type { AccessLine } from '../../src/api/access-log.ts';
import { makeToken } from '../../src/lib/token.ts';
import { createLog } from '../../src/log.ts';
import { exchange } from './exchange.ts';
import { asOperator, sharedApi, testApi, token } from './setup.ts';

const lines: AccessLine[] = [];
const api = sharedApi({ logAccess: (line) => lines.push(line) });

/** Waits for the access log line of the request with this id. */
async function lineOf(id: string): Promise<AccessLine> {
  const found = () => lines.find(({ request_id }) => request_id === id);
  await expect.poll(found).toBeDefined();
  return found() ?? expect.fail();
}

async function send(method: string, url: string, body?: object, headers: Readonly<Record<string, string>> = {}) {
  const answer = await api().call(method, url, body === undefined ? undefined : JSON.stringify(body), headers);
  return { answer, line: await lineOf(String(answer.headers['x-request-id'])) };
}

it('a write is logged as one line with its request id, actor, route and status', async () => {
  const { answer, line } = await send('POST', '/api/groups', { name: 'written' }, { 'x-request-id': 'deploy-42' });
  const [owner] = (await api().engine.snapshots.current(api().account)).ofKind('User');
  expect(answer.headers['x-request-id']).toBe('deploy-42');
  expect(line).toEqual({
    ...{ level: 'info', message: 'request', request_id: 'deploy-42', method: 'POST', path: '/api/groups' },
    ...{ route: '/api/groups', status: 200, duration_ms: expect.any(Number), actor: owner?.id, account: api().account },
  });
  expect(lines.filter(({ request_id }) => request_id === 'deploy-42')).toHaveLength(1);
});

it('reads are logged at debug level, refusals at info level', async () => {
  const id = await api().group('read');
  const read = (await send('GET', `/api/groups/${id}`)).line;
  expect(read).toMatchObject({ level: 'debug', path: `/api/groups/${id}`, route: '/api/groups/:id', status: 200 });
  expect((await send('GET', '/api/groups/none')).line).toMatchObject({ level: 'info', status: 404 });
  expect((await send('GET', '/healthz')).line).toMatchObject({ level: 'debug', actor: undefined });
  const outsider = (await send('GET', '/api/groups', undefined, { authorization: 'Token wrong' })).line;
  expect(outsider).toMatchObject({ level: 'info', status: 401, actor: undefined, account: undefined });
});

it('without the debug level, reads are not logged, and refusals are', async () => {
  const own: AccessLine[] = [];
  await using quiet = await testApi('postgres', { logAccess: (line) => own.push(line), logsDebug: false });
  for (const url of ['/api/groups', '/api/groups/none']) await quiet.call('GET', url);
  await expect.poll(() => own).toHaveLength(1);
  expect(own).toMatchObject([{ level: 'info', path: '/api/groups/none', status: 404 }]);
});

it('frequent agent requests are logged at debug level', async () => {
  expect((await send('POST', '/agent/challenge')).line).toMatchObject({ level: 'debug', status: 200 });
});

it('a request of the operator is logged with the actor `operator`', async () => {
  expect((await send('GET', '/metrics', undefined, asOperator)).line).toMatchObject({ actor: 'operator', status: 200 });
});

it.each(['', 'a b', 'a\tb', 'x'.repeat(129), '{"a":1}', 'ä'])(
  'the request id %j is replaced by a generated one',
  async (id) => {
    const { answer } = await send('GET', '/healthz', undefined, { 'x-request-id': id });
    expect(answer.headers['x-request-id']).toMatch(/^[\da-f-]{36}$/);
  },
);

it('requests to unknown paths and malformed URLs are logged too', async () => {
  expect((await send('GET', '/api/nothing')).line).toMatchObject({ path: '/api/nothing', status: 404 });
  expect((await send('PATCH', '/api/groups')).line).toMatchObject({ route: '/api/groups', status: 405 });
  const answer = await api().app.inject({ url: '/%zz', headers: { 'x-request-id': 'broken' } });
  expect([answer.statusCode, (await lineOf('broken')).path]).toEqual([404, '/****']);
});

it('a client that disconnects before its answer ends is logged', async () => {
  const address = await api().app.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect(Number(new URL(address).port), '127.0.0.1');
  await once(socket, 'connect');
  const head = `GET /api/config/events HTTP/1.1\r\nHost: a\r\nX-Request-Id: left\r\nAuthorization: Token ${token}`;
  socket.write(`${head}\r\nAccept: text/event-stream\r\n\r\n`);
  await once(socket, 'data');
  socket.destroy();
  expect((await lineOf('left')).message).toContain('the client disconnected before the answer was complete');
});

it('no secret of a request is logged', async () => {
  const secret = 'planted-hunter2-hunter2';
  const invite = makeToken('nbi_', new Uint8Array(32).fill(3));
  const address = 'ada@example.com';
  const urls = [
    `/api/groups?token=${secret}`,
    `/oidc/auth?code=${secret}&state=${secret}`,
    `/signin/${secret}`,
    `/api/users/invites/${invite}`,
    `/api/users/invites/${invite.replace('nbi_', 'x')}/accept`,
    `/scim/v2/Users?filter=userName%20eq%20%22${encodeURIComponent(address)}%22`,
    `/scim/v2/Users/${encodeURIComponent(address)}`,
    `/api/peers/${encodeURIComponent(`a ${secret}`)}`,
    `/${secret}@example.com/x;${secret}`,
    `/api/groups/${Buffer.from(secret.repeat(2)).toString('base64url')}`,
    `/api/groups/eyJhbGciOiJ9.${secret}`,
    `/api/groups/%0a%0dinfo%20forged`,
  ];
  const texts: string[] = [];
  const write = (text: string) => texts.push(text);
  const logs = (['text', 'json'] as const).map((format) => createLog({ format, level: 'debug', write }));
  for (const [at, url] of urls.entries()) {
    const headers = { 'x-request-id': `hostile-${at}`, authorization: `Bearer ${secret}`, cookie: `a=${secret}` };
    await api().app.inject({ url, method: at % 2 === 0 ? 'GET' : 'POST', headers });
    const line = await lineOf(`hostile-${at}`);
    for (const log of logs) log(line);
  }
  const text = texts.join('');
  expect(texts).toHaveLength(2 * urls.length);
  expect(texts.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true);
  expect(text).not.toMatch(/hunter2|nbi_|ada|eyJ|forged/);
  expect(text).not.toContain(invite.slice(4));
  expect(text).not.toContain(Buffer.from(secret).toString('base64url').slice(0, 20));
});

it('a request that fails before routing is logged as one line, with the id of its answer and none of its content', async () => {
  await using api = await testApi('postgres', { logAccess: (line) => lines.push(line) });
  const port = Number(new URL(await api.app.listen({ host: '127.0.0.1', port: 0 })).port);
  const unread = { method: undefined, path: undefined, route: undefined };
  const named = 'Host: a\r\nX-Request-Id: named\r\n';
  const cases: readonly (readonly [string, object])[] = [
    ['GET\r\n\r\n', { ...unread, status: 400, message: 'request that could not be read (HPE_INVALID_METHOD)' }],
    [`GET /hunter2 hunter2 HTTP/1.1\r\nHost: a\r\n\r\n`, { ...unread, status: 400 }],
    [`GET / HTTP/1.1\r\nHunter2 hunter2: x\r\n\r\n`, { ...unread, status: 400, level: 'info' }],
    [
      `GET / HTTP/1.1\r\nHost: a\r\nX-Large: ${'hunter2'.repeat(6_000)}\r\n\r\n`,
      { ...unread, status: 431, message: 'request that could not be read (HPE_HEADER_OVERFLOW)' },
    ],
    [
      `GET /healthz?hunter2 HTTP/1.1\r\n${named}Expect: miracles\r\n\r\n`,
      { request_id: 'named', method: 'GET', path: '/healthz', status: 417, message: 'request' },
    ],
    [`CONNECT hunter2:443 HTTP/1.1\r\n${named}\r\n`, { request_id: 'named', method: 'CONNECT', status: 405 }],
    [
      `POST /api/groups HTTP/1.1\r\n${named}Authorization: Token ${token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nhunter2\r\n`,
      { request_id: 'named', route: '/api/groups', status: 400, message: expect.stringContaining('CHUNK_SIZE') },
    ],
  ];
  for (const [request, expected] of cases) {
    lines.length = 0;
    const answer = await exchange(port, request);
    const id = /^x-request-id: (\S+)\r$/im.exec(answer)?.[1] ?? expect.fail(answer);
    expect(await lineOf(id)).toMatchObject(expected);
    expect([lines.length, JSON.stringify(lines)]).toEqual([1, expect.not.stringMatching(/hunter2/i)]);
  }
});

it.each([
  [
    'head',
    `X-Request-Id: slow-head`,
    { request_id: expect.not.stringMatching('slow'), method: undefined, path: undefined },
  ],
  [
    'body',
    `X-Request-Id: slow-body\r\nAuthorization: Token ${token}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"na`,
    { request_id: 'slow-body', method: 'POST', path: '/api/groups', route: '/api/groups', actor: expect.any(String) },
  ],
])('a request with an unfinished %s is answered with 408 and logged with its id', async (_, rest, expected) => {
  await using api = await testApi('postgres', { logAccess: (line) => lines.push(line) });
  // By default, Node looks for such requests every 30 seconds, and a request may take two minutes.
  Object.assign(api.app.server, { requestTimeout: 50, headersTimeout: 50, connectionsCheckingInterval: 20 });
  const port = Number(new URL(await api.app.listen({ host: '127.0.0.1', port: 0 })).port);
  lines.length = 0;
  const answer = await exchange(port, `POST /api/groups HTTP/1.1\r\nHost: a\r\n${rest}`);
  const [, id = ''] =
    /^HTTP\/1\.1 408 Request Timeout\r\n.*^X-Request-Id: (\S+)\r$.*"code":408\}$/ms.exec(answer) ?? expect.fail(answer);
  expect(await lineOf(id)).toMatchObject({
    ...expected,
    level: 'info',
    status: 408,
    message: expect.stringContaining('ERR_HTTP_REQUEST_TIMEOUT'),
  });
  expect(lines).toHaveLength(1);
});
