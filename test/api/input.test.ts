import { describe, expect, it } from 'vitest';
import { exchange } from './exchange.ts';
import { sharedApi, testApi, token } from './setup.ts';

const api = sharedApi();
const authorization = `Token ${token}`;
const json = 'application/json';

const send = (method: 'POST' | 'PUT', url: string, payload: Buffer, type: string) =>
  api().app.inject({ method, url, payload, headers: { authorization, 'content-type': type } });

/** Returns the credentials for a URL. Proxies authenticate with tokens of a separate kind. */
async function credentialsFor(url: string): Promise<string> {
  if (!url.startsWith('/proxy')) return authorization;
  const { body } = await api().call('POST', '/api/reverse-proxies/proxy-tokens', { name: 'proxies' });
  return `Bearer ${body.plain_token}`;
}

describe('a request body', () => {
  const broken = Buffer.concat([Buffer.from('{"name":"caf\u{fffd}'), Buffer.from([0xe9]), Buffer.from('"}')]);

  it.each([
    ['POST', '/api/groups', json],
    ['PUT', '/api/groups/x', json],
    ['POST', '/api/config/plans', json],
    ['POST', '/api/config/plans', 'application/yaml'],
    ['POST', '/agent/enrol', json],
    ['POST', '/proxy/register', json],
  ] as const)('of %s %s as %s is refused when it is not UTF-8, naming the byte', async (method, url, type) => {
    const headers = { authorization: await credentialsFor(url), 'content-type': type };
    const answer = await api().app.inject({ method, url, payload: broken, headers });
    expect([answer.statusCode, answer.json()]).toEqual([
      400,
      { code: 400, message: 'the body is not valid UTF-8 at byte 15; encode it as UTF-8' },
    ]);
  });

  it('keeps a replacement character that was really sent', async () => {
    const made = await send('POST', '/api/groups', Buffer.from('{"name":"a\u{fffd}b"}'), json);
    expect(made.json()).toMatchObject({ name: 'a\u{fffd}b' });
  });

  it.each(['iso-8859-1', '"UTF-16"', 'us-ascii', 'utf-8; charset=latin1', ''])(
    'with the charset %s is refused with 415',
    async (charset) => {
      for (const [url, type] of [
        ['/api/groups', json],
        ['/api/config/plans', 'application/yaml'],
        ['/agent/enrol', json],
      ] as const) {
        const answer = await send('POST', url, Buffer.from('{"name":"c"}'), `${type}; charset=${charset}`);
        expect([answer.statusCode, answer.json().message]).toEqual([415, expect.stringContaining('UTF-8')]);
      }
    },
  );

  it.each(['utf-8', '"UTF-8"', 'utf8'])('with the charset %s is accepted', async (charset) => {
    const answer = await send('POST', '/api/groups', Buffer.from('{"name":"d"}'), `${json};charset=${charset}`);
    expect([200, 409]).toContain(answer.statusCode);
  });
});

describe('a request URL', () => {
  it.each([
    ...['/api/groups/a%00b', '/api/users/%00/tokens', '/api/users/invites/%00', '/api/config/plans/%00'],
    ...['/api/config/sources/%00', '/api/dns/zones/%00/records/%00', '/api/integrations/msp/tenants/%00/dns'],
    ...['/agent/services/%00', '/invite/%00', '/signin/%00'],
  ])('with a NUL in its path is refused with 404 or 405: %s', async (url) => {
    for (const headers of [{ authorization }, {}])
      for (const method of ['GET', 'DELETE'] as const) {
        const answer = await api().app.inject({ method, url, headers });
        expect([404, 405]).toContain(answer.statusCode);
        expect(answer.json()).toEqual({ code: answer.statusCode, message: expect.any(String) });
      }
    expect(api().defects).toEqual([]);
  });

  it.each([
    ...['/api/peers?name=%00', '/api/groups?name=a%00', '/api/groups?account=%00', '/api/events/audit?before=%00'],
    ...['/api/config/revisions?path=%00', '/api/config/export?object=%00', '/api/events/proxy?search=%00'],
    ...['/api/groups?%00=1', '/api/config/access?from=%00&to=b', '/api/events?after=%00'],
  ])('with a NUL in its query is refused with 422: %s', async (url) => {
    const answer = await api().app.inject({ url, headers: { authorization } });
    expect([answer.statusCode, answer.json()]).toMatchObject([422, { problems: [{ code: 'filter_invalid' }] }]);
    expect(answer.json().message).toContain('NUL');
  });

  it('with an escape that is not UTF-8 is refused with 422', async () => {
    const { status, body } = await api().call('GET', '/api/groups?name=%ff');
    expect([status, body.problems]).toEqual([
      422,
      [{ code: 'filter_invalid', path: '/name', message: expect.stringContaining('not UTF-8') }],
    ]);
  });

  it('with a repeated parameter is refused with 422', async () => {
    for (const url of ['/api/groups?name=a&name=b', '/api/config/revisions?limit=1&limit=2', '/api/users?x&x=1']) {
      const { status, body } = await api().call('GET', url);
      expect([status, body.message]).toEqual([422, expect.stringMatching(/is given more than once; give it once$/)]);
    }
    const made = await api().call('POST', '/api/groups?account=a&account=b', { name: 'twice' });
    expect(made.status).toBe(422);
  });

  it('with unknown parameters is accepted, and Heddle-Ignored names them', async () => {
    const read = await api().call('GET', '/api/groups?nam=x&account=&a%2Cb');
    expect([read.status, read.headers['heddle-ignored']]).toEqual([200, '?nam, ?a%2Cb']);
    const written = await api().call('POST', '/api/groups?dry=1', { name: 'e', colour: 'red' });
    expect([written.status, written.headers['heddle-ignored']]).toEqual([200, '?dry, /colour']);
    expect((await api().call('GET', '/api/groups?name=x')).headers).not.toHaveProperty('heddle-ignored');
    expect((await api().call('GET', '/healthz?a=1')).headers['heddle-ignored']).toBe('?a');
  });

  it('with unknown parameters is refused with 422 when `Prefer: handling=strict` is sent', async () => {
    const strict = { prefer: 'handling=strict' };
    const { status, body } = await api().call('GET', '/api/groups?nam=x&name=a', undefined, strict);
    expect([status, body.problems]).toEqual([
      422,
      [{ code: 'parameter_unknown', path: '/nam', message: expect.stringContaining('`nam` is not a parameter') }],
    ]);
    expect((await api().call('GET', '/api/groups?name=a', undefined, strict)).status).toBe(200);
    expect((await api().call('DELETE', '/api/groups/x?y=1', undefined, strict)).status).toBe(422);
  });
});

describe('the header Prefer', () => {
  it.each([
    ...['handling=strict', 'HANDLING=strict', 'Handling=STRICT', 'handling="strict"', 'handling = strict'],
    ...['respond-async, handling=strict', 'respond-async,handling=strict;x=1', 'wait=10 , handling = "str\\ict"'],
    ...['foo="a, handling=lenient", handling=strict', 'handling=strict, handling=lenient'],
  ])('%s demands strict handling', async (prefer) => {
    const answer = await api().call('GET', '/api/groups?nam=x', undefined, { prefer });
    expect(answer.status).toBe(422);
  });

  it.each([
    ...['handling=lenient', 'handling=lenient, handling=strict', 'foo="handling=strict"', 'foo; handling=strict'],
    ...['xhandling=strict', 'handling=stricter', 'handling', ','.repeat(5000)],
  ])('%s does not demand strict handling', async (prefer) => {
    const answer = await api().call('GET', '/api/groups?nam=x', undefined, { prefer });
    expect([answer.status, answer.headers['heddle-ignored']]).toEqual([200, '?nam']);
  });

  it('may be given more than once', async () => {
    const headers = { authorization, prefer: ['respond-async', 'handling=strict'] };
    expect((await api().app.inject({ url: '/api/groups?nam=x', headers })).statusCode).toBe(422);
  });
});

it('requests that fail before routing are answered with a JSON error', async () => {
  await using api = await testApi();
  const port = Number(new URL(await api.app.listen({ host: '127.0.0.1', port: 0 })).port);
  const cases = [
    ['GET /api/groups HTTP/1.1\r\n\r\n', 400],
    ['GET /api/groups HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
    ['GET /healthz HTTP/1.1\r\nhost: a\r\nHOST: a\r\n\r\n', 400],
    ['GET /healthz HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n', 400],
    ['GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\n\r\n', 417],
    ['CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n', 405],
    ['GET\r\n\r\n', 400],
    ['GET /a b HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['GET / HTTP/9.9\r\nHost: a\r\n\r\n', 400],
    ['GET / HTTP/1.1\r\nHost: a\r\nBad Header: x\r\n\r\n', 400],
    ['GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n', 400],
    ['POST /api/groups HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 400],
    [`GET /${'x'.repeat(40_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
    [`GET / HTTP/1.1\r\nHost: a\r\nX-Large: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
    ['GET http://[ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 404],
    ['GET * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 404],
  ] as const;
  for (const [request, status] of cases) {
    const [head = '', body = ''] = (await exchange(port, request)).split('\r\n\r\n');
    expect(head.split('\r\n')[0], request.slice(0, 80)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head.toLowerCase(), request.slice(0, 80)).toContain('content-type: application/json');
    expect(JSON.parse(body)).toEqual({ code: status, message: expect.stringMatching(/.{15}/) });
  }
  const old = await exchange(port, 'GET /healthz HTTP/1.0\r\n\r\n');
  expect(old).toMatch(/^HTTP\/1.1 200 /);
});
