import { once } from 'node:events';
import { request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { outboundOf, startHost } from './hosts.ts';

/** Asks a proxy for a tunnel to an authority. Returns the status and the socket of the tunnel. */
async function tunnel(proxyUrl: string, authority: string, credential = true) {
  const { hostname, port, username, password } = new URL(proxyUrl);
  const authorization = { 'proxy-authorization': `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
  const asking = request({
    hostname,
    port,
    method: 'CONNECT',
    path: authority,
    headers: credential ? authorization : {},
  });
  asking.end();
  const [{ statusCode }, socket] = await once(asking, 'connect');
  onTestFinished(() => void socket.destroy());
  return { status: statusCode, socket };
}

test('a passage reaches only its destination, with its credential, until it is closed', async () => {
  const host = await startHost((_, response) => response.end('here'));
  const { outbound, outcomes } = outboundOf({ allow: ['127.0.0.1'] });
  const destination = { host: '127.0.0.1', port: host.port, namedBy: 'user' } as const;
  const passage = await outbound.openPassage('git', destination);
  const open = await tunnel(passage.proxyUrl, `127.0.0.1:${host.port}`);
  expect(open.status).toBe(200);
  open.socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  expect(String((await once(open.socket, 'data'))[0])).toContain('200 OK');
  expect((await tunnel(passage.proxyUrl, `127.0.0.1:${host.port}`, false)).status).toBe(407);
  expect(passage.reason()).toBeUndefined();
  expect((await tunnel(passage.proxyUrl, '127.0.0.1:1')).status).toBe(403);
  expect((await tunnel(passage.proxyUrl, `localhost:${host.port}`)).status).toBe(403);
  expect(passage.reason()).toMatch(/^it redirects to another host, localhost:\d+, which is not followed/);
  const ended = once(open.socket, 'close');
  passage.close();
  await ended;
  expect((await tunnel(passage.proxyUrl, `127.0.0.1:${host.port}`)).status).toBe(407);
  expect(outcomes()).toEqual(['ok']);
});

test('a passage to a host that users may not reach is refused with a reason', async () => {
  const host = await startHost((_, response) => response.end('here'));
  const { outbound } = outboundOf({ names: { 'evil.example.com': ['127.0.0.1'] } });
  const destination = { host: 'evil.example.com', port: host.port, namedBy: 'user' } as const;
  const passage = await outbound.openPassage('git', destination);
  expect((await tunnel(passage.proxyUrl, `evil.example.com:${host.port}`)).status).toBe(502);
  expect(passage.reason()).toMatch(/^evil\.example\.com has no address that this server connects to for its users/);
  expect(host.asked).toEqual([]);
});

test('each passage has a separate credential', async () => {
  const { outbound } = outboundOf();
  const destination = { host: 'a.example.com', port: 443, namedBy: 'user' } as const;
  const [one, other] = [await outbound.openPassage('git', destination), await outbound.openPassage('git', destination)];
  expect(new URL(one.proxyUrl).port).toBe(new URL(other.proxyUrl).port);
  expect(new URL(one.proxyUrl).password).not.toBe(new URL(other.proxyUrl).password);
  expect(new URL(one.proxyUrl).hostname).toBe('127.0.0.1');
});
