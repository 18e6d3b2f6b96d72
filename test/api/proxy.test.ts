import { setTimeout as wait } from 'node:timers/promises';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { describe, expect, it } from 'vitest';
import { makeToken } from '../../src/lib/token.ts';
import { type Answer, sharedApi, type TestApi, testApi } from './setup.ts';

const api = sharedApi();
const address = 'proxy.example.com';
let made = 0;

/** Creates a token for proxies. Returns the header that contains it, and its id. */
async function newToken(
  { call }: TestApi,
  more = {},
): Promise<{ readonly authorization: string; readonly id: string }> {
  const { body } = await call('POST', '/api/reverse-proxies/proxy-tokens', { name: `t${made}`, ...more });
  return { authorization: `Bearer ${body.plain_token}`, id: body.id };
}

/** Registers a proxy in a new cluster. */
async function newProxy(on: TestApi, more = {}) {
  made += 1;
  const { authorization, id: token } = await newToken(on);
  const registration = { proxy_id: `p${made}`, address: `c${made}.${address}`, ...more };
  const answer = await on.call('POST', '/proxy/register', registration, { authorization });
  expect([answer.status, answer.body]).toMatchObject([200, { proxy_id: registration.proxy_id }]);
  const send = (path: string, body: object = {}): Promise<Answer> =>
    on.call('POST', `/proxy/${path}`, { proxy_id: registration.proxy_id, ...body } as never, { authorization });
  const cluster = async () =>
    (await on.call('GET', '/api/reverse-proxies/clusters')).body.find(
      (found: { address: string }) => found.address === registration.address,
    );
  return { ...registration, authorization, token, send, cluster };
}

const service = (domain: string, more = {}) => ({ name: domain, domain, mode: 'http', enabled: true, ...more });

describe('tokens of proxies', () => {
  const path = '/api/reverse-proxies/proxy-tokens';

  it('are created, listed and deleted, with audit events', async () => {
    const { call } = api();
    const { body: token } = await call('POST', path, { name: 'Bern', expires_in: 3600 });
    expect(token.plain_token).toMatch(/^nbx_[0-9A-Za-z]{36}$/);
    const { plain_token: _, ...record } = token;
    expect((await call('GET', path)).body).toContainEqual(record);
    expect((await call('DELETE', `${path}/${token.id}`)).status).toBe(200);
    expect((await call('DELETE', `${path}/${token.id}`)).status).toBe(404);
    const [deleted, created] = (await call('GET', '/api/events/audit')).body;
    expect([created.activity_code, deleted.activity_code, deleted.meta]).toEqual([
      'service.proxy.token.create',
      'service.proxy.token.delete',
      { name: 'Bern' },
    ]);
  });

  it.each([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(256) }, 'name'],
    [{ name: 'a', expires_in: -1 }, 'expires_in'],
    [{ name: 'a', expires_in: '1' }, 'expires_in'],
    [{ name: 'a', expires_in: 1.5 }, 'expires_in'],
  ])('are refused for the body %j', async (body, member) => {
    const { status, body: answer } = await api().call('POST', path, body);
    expect([status, answer.message]).toEqual([422, expect.stringContaining(`\`${member}\``)]);
  });

  it('are the only valid credentials of proxies: wrong, foreign, deleted and expired ones get 401', async () => {
    const on = api();
    const { authorization, id } = await newToken(on);
    const enter = async (header: string) =>
      (await on.call('POST', '/proxy/register', { proxy_id: 'p', address: 'x.example.com' }, { authorization: header }))
        .status;
    const outsider = makeToken('nbx_', new Uint8Array(32).fill(9));
    expect(await enter('')).toBe(401);
    expect(await enter('Bearer nbx_short')).toBe(401);
    expect(await enter(`Bearer ${outsider}`)).toBe(401);
    expect(await enter(authorization.replace('nbx_', 'nbp_'))).toBe(401);
    expect((await on.call('GET', '/api/groups', undefined, { authorization })).status).toBe(401);
    await on.call('DELETE', `${path}/${id}`);
    expect(await enter(authorization)).toBe(401);
    const brief = await newToken(on, { expires_in: 1 });
    await expect.poll(() => enter(brief.authorization)).toBe(401);
  });
});

describe('a proxy', () => {
  it('makes its cluster known, and online until it disconnects or its heartbeats stop', async () => {
    const proxy = await newProxy(api(), { supports_custom_ports: true, require_subdomain: false });
    expect(await proxy.cluster()).toMatchObject({
      ...{ address: proxy.address, type: 'account', online: true, connected_proxies: 1 },
      ...{ supports_custom_ports: true, require_subdomain: false },
    });
    const revision = await api().revision();
    expect((await proxy.send('heartbeat')).status).toBe(200);
    expect((await proxy.send('disconnect')).status).toBe(200);
    expect(await proxy.cluster()).toMatchObject({ online: false, connected_proxies: 0 });
    await proxy.send('heartbeat');
    await api().engine.database.asOwner(["update proxies set last_seen = now() - interval '3 minutes'"]);
    expect(await proxy.cluster()).toMatchObject({ online: false, connected_proxies: 0 });
    expect(await api().revision()).toBe(revision);
  });

  it('has no abilities unless it reports them, and its cluster lists them all', async () => {
    const proxy = await newProxy(api());
    expect(await proxy.cluster()).toMatchObject({
      ...{ supports_custom_ports: false, require_subdomain: false, supports_reputation: false, private: false },
    });
  });

  it('updates the abilities of its cluster when it registers with others, and writes nothing otherwise', async () => {
    const proxy = await newProxy(api());
    const again = (more: object) =>
      api().call(
        'POST',
        '/proxy/register',
        { proxy_id: proxy.proxy_id, address: proxy.address, ...more },
        { authorization: proxy.authorization },
      );
    const revision = await api().revision();
    expect((await again({})).status).toBe(200);
    expect(await api().revision()).toBe(revision);
    await again({ supports_reputation: true });
    expect(await proxy.cluster()).toMatchObject({ supports_reputation: true });
    expect(await api().revision()).toBe(revision + 1);
  });

  it('shares its cluster and token with other proxies, each under a separate id', async () => {
    const proxy = await newProxy(api());
    const as = (proxy_id: string, authorization: string, at = proxy.address) =>
      api().call('POST', '/proxy/register', { proxy_id, address: at }, { authorization });
    const both = await Promise.all([as('twin-1', proxy.authorization), as('twin-2', proxy.authorization)]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(await proxy.cluster()).toMatchObject({ connected_proxies: 3 });
    const { authorization } = await newToken(api());
    expect((await as(proxy.proxy_id, authorization)).status).toBe(403);
    expect((await as('twin-1', proxy.authorization, 'other.example.com')).status).toBe(403);
    expect(JSON.stringify((await api().call('GET', '/api/reverse-proxies/clusters')).body)).not.toContain('other.');
    expect((await as('twin-1', proxy.authorization, `${proxy.address.toUpperCase()}.`)).status).toBe(200);
  });

  it('creates one cluster when 100 proxies register at the same time', async () => {
    const { authorization } = await newToken(api());
    const at = 'many.example.com';
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        api().call('POST', '/proxy/register', { proxy_id: `many-${n}`, address: at }, { authorization }),
      ),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.cluster?.id}`)).size).toBe(1);
  });

  it('loses its token when its cluster is deleted', async () => {
    const proxy = await newProxy(api());
    const path = `/api/reverse-proxies/clusters/${encodeURIComponent(proxy.address)}`;
    expect((await api().call('DELETE', path)).status).toBe(200);
    expect((await proxy.send('heartbeat')).status).toBe(401);
    const { body } = await api().call('GET', '/api/reverse-proxies/proxy-tokens');
    expect(body.map(({ id }: { id: string }) => id)).not.toContain(proxy.token);
  });

  it.each([
    ['nothing', {}],
    ['no address', { proxy_id: 'p' }],
    ['an address that is no name', { proxy_id: 'p', address: 'not a name' }],
    ['a text for a switch', { proxy_id: 'p', address: 'a.example.com', private: 'yes' }],
    ['a number for a name', { proxy_id: 7, address: 'a.example.com' }],
    ['a name that is too long', { proxy_id: 'x'.repeat(65), address: 'a.example.com' }],
  ])('is refused with %s', async (_, body) => {
    const { authorization } = await newToken(api());
    expect((await api().call('POST', '/proxy/register', body, { authorization })).status).toBe(422);
  });

  it('must register before it reports', async () => {
    const { authorization } = await newToken(api());
    for (const path of ['heartbeat', 'service-status', 'access-logs']) {
      const body = { proxy_id: 'nobody', batch: 'b', records: [], services: [] };
      const { status } = await api().call('POST', `/proxy/${path}`, body, { authorization });
      expect([path, status]).toEqual([path, 404]);
    }
  });
});

describe('a report of a proxy', () => {
  it('changes the status of services of its own cluster only, and writes no revision', async () => {
    const { call, revision } = api();
    const [proxy, other] = [await newProxy(api()), await newProxy(api())];
    const { body: mine } = await call('POST', '/api/reverse-proxies/services', service(`app.${proxy.address}`));
    const before = await revision();
    expect(mine.meta.status).toBe('pending');
    const report = { service_id: mine.id, status: 'active', certificate_issued_at: '2026-01-02T03:04:05Z' };
    expect((await other.send('service-status', { services: [report] })).body.refused).toHaveLength(1);
    expect((await proxy.send('service-status', { services: [report] })).body).toEqual({ refused: [] });
    const read = async () => (await call('GET', `/api/reverse-proxies/services/${mine.id}`)).body.meta;
    expect(await read()).toMatchObject({ status: 'active', certificate_issued_at: '2026-01-02T03:04:05.000Z' });
    await proxy.send('service-status', { services: [{ service_id: mine.id, status: 'error' }] });
    expect(await read()).toMatchObject({ status: 'error', certificate_issued_at: '2026-01-02T03:04:05.000Z' });
    expect(await revision()).toBe(before);
    const wrong = [{ service_id: mine.id, status: 'fine' }, { service_id: 'x', status: 'active' }, null, {}];
    expect((await proxy.send('service-status', { services: wrong })).body.refused).toHaveLength(4);
    expect((await proxy.send('service-status', {})).status).toBe(422);
  });

  it('stores a batch of requests once, and refuses faulty records without stopping the others', async () => {
    const { call } = api();
    const proxy = await newProxy(api());
    const now = Date.now();
    const at = (ms: number) => new Date(now + ms).toISOString();
    const host = `log.${proxy.address}`;
    const sound = { timestamp: at(-1000), host, method: 'get', path: '/', status_code: 200, source_ip: '192.0.2.7' };
    const records = [
      sound,
      { ...sound, id: 'mine', timestamp: at(-2000), status_code: 502, path: `/${'x'.repeat(9000)}` },
      { ...sound, timestamp: at(-40 * 86_400_000) },
      { ...sound, timestamp: at(3_600_000) },
      { ...sound, timestamp: '0001-01-01T00:00:00Z' },
      { ...sound, timestamp: 'yesterday' },
      { ...sound, source_ip: 'nowhere' },
      { ...sound, bytes_upload: -1 },
      { ...sound, metadata: { a: 1 } },
      'text',
      {},
    ];
    const send = () => proxy.send('access-logs', { batch: 'first', records });
    const answers = await Promise.all([send(), send(), send()]);
    for (const { status, body } of answers)
      expect([status, body.refused.map(({ index }: { index: number }) => index)]).toEqual([
        200,
        [2, 3, 4, 5, 6, 7, 8, 9, 10],
      ]);
    const { data, total_records } = (await call('GET', `/api/events/proxy?host=${host.toUpperCase()}`)).body;
    expect(total_records).toBe(2);
    expect(data.map(({ id, method, path }: Answer['body']) => [id, method, path.length])).toEqual([
      ['first-0', 'GET', 1],
      ['mine', 'GET', 4096],
    ]);
  });

  it('is stored with invalid text truncated and repaired, and with normalized addresses', async () => {
    const proxy = await newProxy(api());
    const host = `evil.${proxy.address}`;
    const record = { timestamp: new Date().toISOString(), host, path: '/', source_ip: '::FFFF:192.0.2.99' };
    const records = [
      { ...record, path: '/\0/\ud800/😀' },
      { ...record, method: 'X'.repeat(40), metadata: { 'a\0': '\0' } },
      { ...record, host: `${host}.${'y'.repeat(300)}`, source_ip: '2001:DB8:0::1' },
    ];
    expect((await proxy.send('access-logs', { batch: 'evil', records })).body).toEqual({ refused: [] });
    const read = async (query: string) => (await api().call('GET', `/api/events/proxy?${query}`)).body.data;
    expect(await read(`host=${host}&source_ip=::ffff:192.0.2.99&sort_by=path`)).toMatchObject([
      { path: '/\ufffd/\ufffd/😀', source_ip: '192.0.2.99' },
      { path: '/', method: 'X'.repeat(32), metadata: { 'a\ufffd': '\ufffd' } },
    ]);
    expect(await read('source_ip=2001:db8:0:0::1')).toMatchObject([{ source_ip: '2001:db8::1' }]);
  });

  it('is refused as a whole when it has too many records or is too large', async () => {
    const proxy = await newProxy(api());
    const record = { timestamp: new Date().toISOString(), path: '/' };
    const send = async (records: readonly object[], batch: unknown = 'b') =>
      (await proxy.send('access-logs', { batch, records })).status;
    expect(await send(Array.from({ length: 5001 }, () => record))).toBe(422);
    expect(await send([], 7)).toBe(422);
    expect([await send([record], 'b'.repeat(101)), await send([record], `${'b'.repeat(100)}😀`)]).toEqual([422, 422]);
    // A character outside the Basic Multilingual Plane counts as one character, as in JSON Schema.
    expect([await send([record], 'b'.repeat(100)), await send([record], `${'b'.repeat(99)}😀`)]).toEqual([200, 200]);
    expect(await send([{ ...record, path: 'x'.repeat(9 * 1024 * 1024) }])).toBe(413);
  });
});

it('a proxy receives the services of its own cluster only, with the secrets that it checks', async () => {
  await using on = await testApi();
  const [proxy, other] = [await newProxy(on), await newProxy(on)];
  const base = await on.app.listen({ host: '127.0.0.1', port: 0 });
  const auth = { password_auth: { enabled: true, password: 'open sesame' } };
  const made = await on.call('POST', '/api/reverse-proxies/services', service(`a.${proxy.address}`, { auth }));
  await on.call('POST', '/api/reverse-proxies/services', service(`b.${other.address}`));
  const ended = new AbortController();
  const events = follow(`${base}/proxy/services?proxy_id=${proxy.proxy_id}`, proxy.authorization, ended.signal);
  const state = (await events.next()).value;
  expect([state?.type, state?.data.services.map(({ domain }: Answer['body']) => domain)]).toEqual([
    'state',
    [`a.${proxy.address}`],
  ]);
  expect(state?.data.services[0].auth.password_auth).toEqual({ enabled: true, password: 'open sesame' });
  await on.call('POST', '/api/groups', { name: 'not about services' });
  const more = await on.call('POST', '/api/reverse-proxies/services', service(`c.${proxy.address}`));
  const put = (await events.next()).value;
  expect([put?.type, put?.data.put.map(({ id }: Answer['body']) => id), put?.data.removed]).toEqual([
    ...['change', [more.body.id], []],
  ]);
  await on.call('DELETE', `/api/reverse-proxies/services/${made.body.id}`);
  expect((await events.next()).value?.data).toMatchObject({ put: [], removed: [made.body.id] });
  expect(await proxy.cluster()).toMatchObject({ online: true });
  ended.abort();
  await expect.poll(async () => (await proxy.cluster()).online).toBe(false);
});

it('a proxy that opened a second stream stays connected when the first one ends', async () => {
  await using on = await testApi();
  const proxy = await newProxy(on);
  const base = await on.app.listen({ host: '127.0.0.1', port: 0 });
  const [first, second] = [new AbortController(), new AbortController()];
  const url = `${base}/proxy/services?proxy_id=${proxy.proxy_id}`;
  const [before, after] = [first, second].map(({ signal }) => follow(url, proxy.authorization, signal));
  for (const events of [before, after]) expect((await events?.next())?.value?.type).toBe('state');
  first.abort();
  await expect(before?.next()).rejects.toThrow();
  await on.call('POST', '/api/reverse-proxies/services', service(`a.${proxy.address}`));
  expect((await after?.next())?.value?.type).toBe('change');
  expect(await proxy.cluster()).toMatchObject({ online: true });
  second.abort();
  await expect.poll(async () => (await proxy.cluster()).online).toBe(false);
});

it('a proxy receives nothing and is not counted as connected once its token is deleted', async () => {
  await using on = await testApi();
  const [proxy, stays] = [await newProxy(on), await newToken(on)];
  const join = { proxy_id: 'other', address: proxy.address };
  await on.call('POST', '/proxy/register', join, { authorization: stays.authorization });
  const base = await on.app.listen({ host: '127.0.0.1', port: 0 });
  const ended = new AbortController();
  const events = follow(`${base}/proxy/services?proxy_id=${proxy.proxy_id}`, proxy.authorization, ended.signal);
  expect((await events.next()).value?.type).toBe('state');
  expect(await proxy.cluster()).toMatchObject({ connected_proxies: 2 });
  const tokenPath = '/api/reverse-proxies/proxy-tokens';
  const tokens: readonly Answer['body'][] = (await on.call('GET', tokenPath)).body;
  const own = tokens.find(({ id }) => id !== stays.id);
  expect((await on.call('DELETE', `${tokenPath}/${own.id}`)).status).toBe(200);
  expect(await proxy.cluster()).toMatchObject({ online: true, connected_proxies: 1 });
  await on.call('POST', '/api/reverse-proxies/services', service(`a.${proxy.address}`));
  expect(await events.next()).toEqual({ done: true, value: undefined });
});

interface Message {
  readonly type: string;
  readonly data: Answer['body'];
}

/** Yields the messages of a stream until it is aborted. */
async function* follow(url: string, authorization: string, signal: AbortSignal): AsyncGenerator<Message> {
  const response = await fetch(url, { headers: { authorization }, signal });
  const events = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { event: type, data } of events ?? []) {
    if (type !== undefined) yield { type, data: JSON.parse(data) };
    await wait(0);
  }
}
