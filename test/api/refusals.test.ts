import { describe, expect, it } from 'vitest';
import { exchange } from './exchange.ts';
import { sharedApi, testApi, token } from './setup.ts';

const api = sharedApi();
const json = { 'content-type': 'application/json' };

describe('a request that matches no route', () => {
  it.each([
    ['GET', '/api/nothing'],
    ['POST', '/api/nothing'],
    ['GET', '/api/groups/a/b'],
    ['GET', '/api/groups/%zz'],
    ['GET', `/api/groups/${'x'.repeat(600)}`],
    ['GET', '/api/accounts/a/b'],
    ['GET', '//api/groups'],
  ])('returns 404 for %s %s, with and without credentials and with any body', async (method, url) => {
    for (const headers of [{}, { authorization: '' }] as Record<string, string>[]) {
      const answer = await api().call(method, url, method === 'POST' ? '{' : undefined, headers);
      expect(answer.body).toEqual({ code: 404, message: expect.stringContaining('not found') });
    }
  });

  it.each([
    ['PATCH', '/api/groups', 'GET, HEAD, POST'],
    ['DELETE', '/api/groups', 'GET, HEAD, POST'],
    ['POST', '/api/groups/x', 'DELETE, GET, HEAD, PUT'],
    ['GET', '/api/accounts/x', 'DELETE, PUT'],
    ['PUT', '/api/config/plans', 'GET, HEAD, POST'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['TRACE', '/healthz', 'GET, HEAD'],
    ['PUT', '/api/users/invites', 'GET, HEAD, POST'],
    ['DELETE', '/api/users/current?a=b', 'GET, HEAD'],
    ['POST', '/api/users/current', 'GET, HEAD'],
    ['POST', '/api/users/x', 'DELETE, PUT'],
    ['PUT', '/api/users/%69nvites/x/regenerate', 'POST'],
  ])('returns 405 for %s %s, with the allowed methods in Allow', async (method, url, allow) => {
    const answer = await api().call(method, url, method === 'GET' ? undefined : 'not json', { 'content-type': 'a/b' });
    expect([answer.status, answer.headers['allow']]).toEqual([405, allow]);
    expect(answer.body).toEqual({ code: 405, message: expect.stringContaining(allow) });
  });

  it('is rate-limited, and is counted in the metrics by the route of its path, as a CORS preflight is', async () => {
    await using api = await testApi('postgres', { rateLimit: { perMinute: 60, burst: 3 } });
    const ask = (method: 'PATCH' | 'OPTIONS', url: string) => api.app.inject({ method, url });
    const asked = [await ask('OPTIONS', '/api/groups/x'), await ask('OPTIONS', '/api/nothing')];
    for (let at = 0; at < 4; at++) asked.push(await ask('PATCH', '/api/groups/x'));
    expect(asked.map(({ statusCode }) => statusCode)).toEqual([204, 204, 405, 405, 405, 429]);
    const { text } = await api.app.readMetrics();
    expect(text.match(/^heddle_http_request_seconds_count.*$/gm)).toEqual([
      'heddle_http_request_seconds_count{method="OPTIONS",route="/api/groups/:id",status="204"} 1',
      'heddle_http_request_seconds_count{method="OPTIONS",route="*",status="204"} 1',
      'heddle_http_request_seconds_count{method="PATCH",route="/api/groups/:id",status="405"} 3',
      'heddle_http_request_seconds_count{method="PATCH",route="/api/groups/:id",status="429"} 1',
    ]);
  });

  it('gets a JSON error also when its HTTP is malformed', async () => {
    await using api = await testApi();
    const port = Number(new URL(await api.app.listen({ host: '127.0.0.1', port: 0 })).port);
    expect(await exchange(port, 'NONSENSE\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 400 .*\r\n\r\n\{"message":".+","code":400\}$/s,
    );
    const large = `GET / HTTP/1.1\r\nHost: a\r\nX-Large: ${'x'.repeat(40_000)}\r\n\r\n`;
    expect(await exchange(port, large)).toMatch(/^HTTP\/1\.1 431 .*"code":431\}$/s);
    expect(await exchange(port, 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 .*"code":400\}$/s);
    const known = 'PROPFIND /api/groups HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    expect(await exchange(port, known)).toMatch(/"code":404\}$/);
  });
});

describe('requests', () => {
  it.each([
    ['{', 400],
    ['{"name":"a"} x', 400],
    ['[]', 400],
    ['"text"', 400],
    ['null', 400],
    ['7', 400],
    ['', 400],
    ['\u{feff}{"name":"a"}', 400],
    ['{"name":"a\\u0000b"}', 400],
    ['{"name":"\\ud800"}', 400],
    ['{"name":"a","peers":["\\udc00"]}', 400],
    ['{"a\\u0000":1,"name":"a"}', 400],
    ['{"name":"a","__proto__":{"x":1}}', 400],
    [`{"name":"a","x":${'['.repeat(20_000)}"\\u0000"${']'.repeat(20_000)}}`, 400],
    [`{"name":"a","x":${'['.repeat(90)}${']'.repeat(90)}}`, 200],
    [`{"name":"a","x":${'['.repeat(200_000)}${']'.repeat(200_000)}}`, 400],
    [`{"name":"${'x'.repeat(1024 * 1024)}"}`, 413],
  ] as const)('with body %$ of the table get the expected status', async (text, status) => {
    const before = await api().revision();
    expect((await api().call('POST', '/api/groups', text)).status).toBe(status);
    expect((await api().call('PUT', '/api/groups/x', text)).status).toBe(status === 200 ? 404 : status);
    expect(await api().revision()).toBe(status === 200 ? before + 1 : before);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'nonsense', 'application/yaml'])(
    'with a body of type %s are refused with 415',
    async (type) => {
      const answer = await api().call('POST', '/api/groups', '{"name":"a"}', { 'content-type': type });
      expect(answer.body).toEqual({ code: 415, message: expect.stringContaining('application/json') });
    },
  );

  it('may have a charset, and a body where none is needed; a missing required body is reported', async () => {
    await using api = await testApi();
    const made = await api.call('POST', '/api/groups', '{"name":"a"}', {
      'content-type': 'Application/JSON; charset=utf-8',
    });
    expect(made.status).toBe(200);
    expect((await api.call('GET', '/api/groups', undefined, json)).status).toBe(200);
    expect((await api.call('GET', '/api/groups', '')).status).toBe(200);
    expect((await api.call('POST', '/api/groups', '')).body.message).toContain('needs a body');
    expect((await api.call('POST', '/api/groups')).body.message).toContain('needs a body');
    expect((await api.call('PUT', `/api/groups/${made.body.id}`, '')).status).toBe(400);
    for (const body of ['""', '', '{"a":1}', 'nonsense', undefined]) {
      const { id } = (await api.call('POST', '/api/groups', { name: 'b' })).body;
      const gone = await api.call('DELETE', `/api/groups/${id}`, body, json);
      expect([gone.status, gone.body]).toEqual([200, '']);
    }
  });

  it('may have percent-encoded ids in their paths', async () => {
    await using api = await testApi();
    const id = await api.group('a');
    const encoded = [...id].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');
    expect((await api.call('GET', `/api/groups/${encoded}`)).body.id).toBe(id);
    for (const foreign of ['a%2Fb', '%20', '%00', '%F0%9F%92%A9', "'", '..', 'null', encodeURIComponent(token)]) {
      const answer = await api.call('GET', `/api/groups/${foreign}`);
      expect([answer.status, answer.body.message]).toEqual([404, expect.stringContaining('not found')]);
    }
  });
});
