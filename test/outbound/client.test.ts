import { describe, expect, test } from 'vitest';
import type { OutboundFailure } from '../../src/outbound/failure.ts';
import { outboundOf, startHost } from './hosts.ts';

const url = (text: string) => new URL(text);
const failing = (work: Promise<unknown>) =>
  work.then(
    () => 'answered',
    (error: OutboundFailure) => `${error.outcome}: ${error.message}`,
  );

describe('a request to a host named by a user', () => {
  test('reaches no address of this machine or its networks, under any spelling or name', async () => {
    const host = await startHost((_, response) => response.end('secret'));
    const names = { 'evil.example.com': ['127.0.0.1'], 'mixed.example.com': ['10.0.0.1', '::ffff:127.0.0.1'] };
    const { outbound, outcomes } = outboundOf({ names });
    for (const name of [
      '127.0.0.1',
      '0x7f.1',
      '2130706433',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
      ...Object.keys(names),
    ])
      expect(
        await failing(outbound.send('git', { url: url(`https://${name}:${host.port}/`), namedBy: 'user' })),
      ).toMatch(
        /^refused: .* (that this server connects|which this server does not connect) to for its users; (check the name, or let the operator|the operator can) allow it with HEDDLE_OUTBOUND_ALLOW$/,
      );
    expect(new Set(outcomes())).toEqual(new Set(['refused']));
    expect(host.asked).toEqual([]);
  });

  test('connects to the address that was checked, even if the name resolves elsewhere a moment later', async () => {
    const secure = true;
    const good = await startHost((_, response) => response.end('good'), { address: '127.0.0.2', secure });
    const evil = await startHost((_, response) => response.end('evil'), { port: good.port, secure });
    let asked = 0;
    const rebinding = () => [asked++ === 0 ? '127.0.0.2' : '127.0.0.1'];
    const names = { localhost: rebinding, 'both.example.com': ['127.0.0.1', '127.0.0.2'] };
    const { outbound, lookups } = outboundOf({ names, allow: ['127.0.0.2'] });
    const answer = await outbound.send('git', { url: url(`https://localhost:${good.port}/`), namedBy: 'user' });
    expect([answer.body.toString(), lookups]).toEqual(['good', ['localhost']]);
    expect(await outbound.findAddress('git', { host: 'both.example.com', port: good.port, namedBy: 'user' })).toBe(
      '127.0.0.2',
    );
    expect(evil.asked).toEqual([]);
  });

  test('may be unencrypted only to hosts that the operator allows', async () => {
    const host = await startHost((_, response) => response.end('here'));
    const names = { 'git.internal': ['127.0.0.1'], 'git.example.com': ['127.0.0.1'] };
    const { outbound } = outboundOf({ names, allow: ['git.internal'] });
    const get = (name: string) => outbound.send('git', { url: url(`http://${name}:${host.port}/`), namedBy: 'user' });
    expect((await get('git.internal')).body.toString()).toBe('here');
    expect(await failing(get('git.example.com'))).toMatch(/^refused: .* only https:\/\/ is allowed/);
    expect(await failing(outbound.send('git', { url: url('file:///etc/passwd'), namedBy: 'operator' }))).toMatch(
      /^refused/,
    );
  });

  test('requires a certificate for the name, not for the address', async () => {
    const host = await startHost((_, response) => response.end('here'), { secure: true });
    const names = { localhost: ['127.0.0.1'], 'other.internal': ['127.0.0.1'] };
    const { outbound } = outboundOf({ names, allow: ['localhost', 'other.internal'] });
    const get = (name: string) => outbound.send('git', { url: url(`https://${name}:${host.port}/`), namedBy: 'user' });
    expect((await get('localhost')).body.toString()).toBe('here');
    expect(await failing(get('other.internal'))).toMatch(/^failed: .*ERR_TLS_CERT_ALTNAME_INVALID/);
  });

  test('follows no redirect, and sends its credentials to no other host', async () => {
    const other = await startHost((_, response) => response.end('other'));
    const host = await startHost((request, response) =>
      response
        .writeHead(302, { location: request.url === '/same' ? '/other' : `http://127.0.0.1:${other.port}/x` })
        .end(),
    );
    const { outbound } = outboundOf({ allow: ['127.0.0.1'] });
    const headers = { authorization: 'Bearer s3cret' };
    for (const path of ['/same', '/away'])
      expect(
        await failing(
          outbound.send('git', { url: url(`http://127.0.0.1:${host.port}${path}`), namedBy: 'user', headers }),
        ),
      ).toMatch(/^redirected: 127\.0\.0\.1:\d+ answers with a redirect, which is not followed/);
    expect(other.asked).toEqual([]);
    expect(host.asked).toEqual(['GET /same', 'GET /away']);
  });

  test('is limited in body size, header size and time', async () => {
    const host = await startHost((request, response) => {
      if (request.url === '/large') response.end('x'.repeat(5000));
      else if (request.url === '/endless') {
        const more = () => {
          while (!response.destroyed && response.write('x'.repeat(1000)));
        };
        response.on('drain', more);
        more();
      } else if (request.url === '/headers')
        response.writeHead(200, { much: 'x'.repeat(15_000), more: 'x'.repeat(5000) }).end();
      else if (request.url === '/dripping') response.write('x');
    });
    const { outbound, outcomes } = outboundOf({ allow: ['127.0.0.1'] });
    const get = (path: string, timeoutMs: number) =>
      failing(
        outbound.send('git', {
          ...{ url: url(`http://127.0.0.1:${host.port}${path}`), namedBy: 'user', timeoutMs, maxBytes: 4000 },
        }),
      );
    expect(await get('/large', 30_000)).toMatch(/^too_large: .* answers with more than 4000 bytes/);
    expect(await get('/endless', 30_000)).toMatch(/^too_large/);
    expect(await get('/headers', 30_000)).toMatch(/^too_large/);
    expect(await get('/silent', 300)).toMatch(/^timeout: .* did not answer within 0\.3 s/);
    expect(await get('/dripping', 300)).toMatch(/^timeout/);
    expect(outcomes()).toEqual(['too_large', 'too_large', 'too_large', 'timeout', 'timeout']);
  });

  test('sends a user agent, and fails with a message that contains neither path nor headers', async () => {
    const host = await startHost((request, response) => {
      if (request.url === '/ok') response.end();
      else request.socket.destroy();
    });
    const { outbound } = outboundOf({ allow: ['127.0.0.1'] });
    const send = (path: string) =>
      outbound.send('git', {
        ...{ url: url(`http://127.0.0.1:${host.port}${path}`), namedBy: 'user', headers: { 'x-key': 's3cret' } },
      });
    await send('/ok');
    expect(host.headers[0]?.['user-agent']).toBe('Heddle/test');
    const failure = await failing(send('/hook/s3cret?token=s3cret'));
    expect(failure).toMatch(/^failed: 127\.0\.0\.1:\d+ does not answer as it should/);
    expect(failure).not.toContain('s3cret');
  });

  test('fails with the same message for an internal and an unknown name; only the log distinguishes them', async () => {
    const { outbound, events } = outboundOf({ names: { 'inside.example.com': ['10.9.8.7'], 'gone.example.com': [] } });
    const send = (name: string, namedBy: 'user' | 'operator') =>
      outbound.send('git', { url: url(`https://${name}/`), namedBy }).catch((error: OutboundFailure) => error.message);
    const reported = (name: string) =>
      `${name} has no address that this server connects to for its users; check the name, or let the operator allow it with HEDDLE_OUTBOUND_ALLOW`;
    for (const name of ['inside.example.com', 'gone.example.com'])
      expect(await send(name, 'user')).toBe(reported(name));
    const own = 'the name gone.example.com has no address; check the name';
    expect(await send('gone.example.com', 'operator')).toBe(own);
    expect(events.map(({ outcome, detail }) => [outcome, detail])).toEqual([
      ['refused', expect.stringMatching(/^inside\.example\.com \(10\.9\.8\.7\) is a private address/)],
      ['unresolved', own],
      ['unresolved', undefined],
    ]);
  });
});

test('a host named by the operator is reached at any address, over connections not shared with users', async () => {
  const host = await startHost((_, response) => response.end('here'));
  const { outbound, outcomes } = outboundOf();
  const get = (namedBy: 'operator' | 'user') =>
    outbound.send('sign_in', { url: url(`http://127.0.0.1:${host.port}/`), namedBy });
  expect((await get('operator')).body.toString()).toBe('here');
  expect(await failing(get('user'))).toMatch(/^refused/);
  expect(outcomes()).toEqual(['ok', 'refused']);
});
