import { describe, expect, test } from 'vitest';
import type { OutboundFailure } from '../../src/outbound/failure.ts';
import { isExcluded, readProxy } from '../../src/outbound/upstream-proxy.ts';
import { outboundOf, startHost, startProxy } from './hosts.ts';

const failing = (work: Promise<unknown>) =>
  work.then(
    () => 'answered',
    (error: OutboundFailure) => `${error.outcome}: ${error.message}`,
  );
const through = (url: string, more = {}) => ({ url, exclusions: [], checksHosts: false, ...more });

describe('an outbound request through a proxy', () => {
  test('resolves and checks the name itself, and sends the proxy the address', async () => {
    const host = await startHost((_, response) => response.end('here'), { secure: true });
    const proxy = await startProxy();
    const names = { localhost: ['127.0.0.1'], 'evil.example.com': ['169.254.169.254'] };
    const { outbound } = outboundOf({ names, allow: ['localhost'], proxy: through(proxy.url) });
    const get = (name: string) =>
      outbound.send('git', { url: new URL(`https://${name}:${host.port}/`), namedBy: 'user' });
    // The certificate is issued for the name: the TLS handshake used the name although the proxy never received it.
    expect((await get('localhost')).body.toString()).toBe('here');
    expect(await failing(get('evil.example.com'))).toMatch(/^refused: evil\.example\.com has no address/);
    expect(proxy.asked).toEqual([`127.0.0.1:${host.port}`]);
  });

  test('leaves the resolution of names to a proxy that acts as the guard', async () => {
    const host = await startHost((_, response) => response.end('here'), { secure: true });
    const proxy = await startProxy({ to: host.port });
    const { outbound, lookups } = outboundOf({ proxy: through(proxy.url, { checksHosts: true }) });
    const answer = await outbound.send('git', { url: new URL('https://localhost/x'), namedBy: 'user' });
    expect([answer.body.toString(), proxy.asked, lookups]).toEqual(['here', ['localhost:443'], []]);
  });

  test('connects directly to excepted hosts, and still checks them', async () => {
    const host = await startHost((_, response) => response.end('here'));
    const proxy = await startProxy();
    const names = { 'a.internal': ['127.0.0.1'], 'b.internal': ['127.0.0.1'] };
    const options = { exclusions: ['internal'], checksHosts: true };
    const { outbound } = outboundOf({ names, allow: ['a.internal'], proxy: through(proxy.url, options) });
    const get = (name: string) =>
      outbound.send('git', { url: new URL(`http://${name}:${host.port}/`), namedBy: 'user' });
    expect((await get('a.internal')).body.toString()).toBe('here');
    expect(
      await failing(outbound.send('git', { url: new URL(`https://b.internal:${host.port}/`), namedBy: 'user' })),
    ).toMatch(/^refused/);
    expect(proxy.asked).toEqual([]);
  });

  test('reports a proxy that refuses or is unreachable, without its password', async () => {
    const proxy = await startProxy({ status: 407 });
    const url = `http://ana:s3cret@127.0.0.1:${proxy.port}`;
    const refusing = outboundOf({ names: { 'a.example.com': ['93.184.216.34'] }, proxy: through(url) });
    const get = ({ outbound }: typeof refusing) =>
      failing(outbound.send('git', { url: new URL('https://a.example.com/'), namedBy: 'user' }));
    expect(await get(refusing)).toBe('unreachable: the proxy of this server answers 407 for 93.184.216.34:443');
    expect(proxy.credentials).toEqual([`Basic ${Buffer.from('ana:s3cret').toString('base64')}`]);
    const away = outboundOf({
      names: { 'a.example.com': ['93.184.216.34'] },
      proxy: through('http://ana:s3cret@127.0.0.1:1'),
    });
    expect(await get(away)).toBe('unreachable: the proxy of this server cannot be reached (ECONNREFUSED)');
    const socks = outboundOf({ names: { 'a.example.com': ['93.184.216.34'] }, proxy: through('socks5://127.0.0.1:1') });
    expect(await get(socks)).toMatch(/^failed: the proxy that HTTPS_PROXY names is neither/);
  });

  test.each([
    ['internal', 'a.internal', 443, true],
    ['.internal', 'a.internal', 443, true],
    ['*.internal', 'a.internal', 443, true],
    ['internal', 'notinternal', 443, false],
    ['A.internal', 'a.internal', 443, true],
    ['a.internal:8443', 'a.internal', 443, false],
    ['a.internal:8443', 'a.internal', 8443, true],
    ['10.0.0.0/8', '10.1.2.3', 443, true],
    ['10.0.0.0/8', '11.1.2.3', 443, false],
    ['fd00::1', 'fd00::1', 443, true],
    ['*', 'a.example.com', 443, true],
  ])('applies the exception %s to %s:%i: %s', (entry, host, port, expected) => {
    expect(isExcluded([entry], host, port)).toBe(expected);
  });

  test('uses the proxy that the environment names', () => {
    expect(readProxy({}, 'heddle')).toBeUndefined();
    expect(readProxy({ HTTPS_PROXY: 'proxy:3128', NO_PROXY: 'a, .b  c' }, 'proxy')).toEqual({
      ...{ url: 'http://proxy:3128', exclusions: ['a', '.b', 'c'], checksHosts: true },
    });
    expect(readProxy({ HTTPS_PROXY: 'http://a', https_proxy: 'http://b' }, 'heddle')?.url).toBe('http://b');
  });
});
