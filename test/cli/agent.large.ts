import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { keepExposed, readLocalService } from '../../src/cli/agent/local-service.ts';
import { createMachine } from '../../src/cli/agent/machine.ts';
import type { Terminal } from '../../src/cli/terminal/terminal.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { testApi } from '../api/setup.ts';
import { setupKey } from '../peers/machine.ts';
import { collectingTerminal, runHere } from './collect.ts';

it('heddle agent simulate enrols machines, connects them, exposes services, and withdraws these when stopped', async () => {
  await using api = await testApi();
  const { call } = api;
  const base = await api.app.listen({ host: '127.0.0.1', port: 0 });
  const key = String((await setupKey(api))['key']);
  const { body: token } = await call('POST', '/api/reverse-proxies/proxy-tokens', { name: 'proxies' });
  const registration = { proxy_id: 'p', address: 'proxy.example.com' };
  await call('POST', '/proxy/register', registration, { authorization: `Bearer ${token.plain_token}` });
  let stop = (): void => undefined;
  const onInterrupt = (listener: () => void) => {
    stop = listener;
    return () => undefined;
  };
  let out = '';
  const argv = ['agent', 'simulate', '--setup-key', key, '--name', 'laptop,server', '--name', 'box', '--server', base];
  const running = runHere(
    [...argv, '--expose', '8080', '--expose', '5432/tcp'],
    {},
    {
      onInterrupt,
      out: (text) => {
        out += text;
      },
    },
  );
  const names = async () => (await call('GET', '/api/peers')).body.map(({ hostname }: JsonObject) => hostname).sort();
  await expect.poll(names).toEqual(['box', 'laptop', 'server']);
  await expect.poll(() => out).toContain('the peer is not connected');
  // This server does not track connections, so the test records them.
  for (const { id: peer } of (await call('GET', '/api/peers')).body)
    await api.engine.presence.record(api.account, { peer, connected: true, stream: 'one', server: 'test' });
  await expect.poll(() => out).toContain('`peer_expose_enabled` is off');
  const [account] = (await call('GET', '/api/accounts')).body;
  const settings = { ...account.settings, peer_expose_enabled: true };
  await call('PUT', `/api/accounts/${account.id}`, { ...account, settings });
  const domains = async () =>
    (await call('GET', '/api/reverse-proxies/services')).body.map(({ domain }: JsonObject) => domain).sort();
  const expected = ['box', 'laptop', 'server'].flatMap((name) => [`${name}-5432`, `${name}-8080`]);
  await expect.poll(domains).toEqual(expected.map((label) => `${label}.proxy.example.com`));
  await expect.poll(() => out).toContain('box: 8080/http is reachable at box-8080.proxy.example.com');
  stop();
  expect((await running).code).toBe(0);
  expect(out).toContain('laptop is laptop.heddle.internal at ');
  expect(await domains()).toEqual([]);
  const refused = await runHere(['agent', 'simulate', '--setup-key', 'WRONG', '--server', base]);
  expect([refused.code, refused.note]).toEqual([1, 'error: setup key invalid\n']);
});

it('heddle agent simulate shows which ingress ports a machine forwards or receives', async () => {
  await using api = await testApi('postgres', { edition: 'hosted' });
  const { call } = api;
  const base = await api.app.listen({ host: '127.0.0.1', port: 0 });
  const key = String((await setupKey(api))['key']);
  let stop = (): void => undefined;
  const written: string[] = [];
  const terminal: Partial<Terminal> = {
    onInterrupt: (listener) => {
      stop = listener;
      return () => undefined;
    },
    out: (text) => {
      written.push(text);
    },
  };
  const lines = () => written.filter((line) => line.includes('ingress')).sort();
  const names = ['--name', 'edge,web', '--server', base];
  const running = runHere(['agent', 'simulate', '--setup-key', key, ...names], {}, terminal);
  await expect.poll(() => written.filter((line) => line.endsWith(': map\n')).length).toBe(2);
  const peers: readonly JsonObject[] = (await call('GET', '/api/peers')).body;
  const idOf = (name: string) => peers.find(({ hostname }) => hostname === name)?.['id'] ?? '';
  await call('POST', '/api/ingress/peers', { peer_id: idOf('edge'), enabled: true, fallback: true });
  const ranges = [
    { start: 443, end: 443, protocol: 'tcp' },
    { start: 500, end: 509, protocol: 'udp' },
  ];
  const path = `/api/peers/${idOf('web')}/ingress/ports`;
  const { body: port } = await call('POST', path, { name: 'https', enabled: true, port_ranges: ranges });
  const begun = [
    'edge: ingress port https forwards tcp 20000 to 443 of web\n',
    'edge: ingress port https forwards udp 20000-20009 to 500-509 of web\n',
    'web: ingress port https leads here: tcp 20000 of edge to 443\n',
    'web: ingress port https leads here: udp 20000-20009 of edge to 500-509\n',
  ];
  await expect.poll(lines).toEqual(begun);
  await call('DELETE', `${path}/${port.id}`);
  const ended = ['edge: ingress port https ended\n', 'web: ingress port https ended\n'];
  await expect.poll(lines).toEqual([...begun, ...ended].sort());
  stop();
  expect((await running).code).toBe(0);
});

/** Starts a server whose exposed services all end within a second, and which answers every renewal with 404. */
async function forgetfulServer() {
  const asked: string[] = [];
  let made = 0;
  const server = createServer((request, response) => {
    request.resume();
    asked.push(`${request.method} ${request.url}`);
    if (request.url?.endsWith('/renew')) return response.writeHead(404).end('{"message":"exposed service not found"}');
    if (request.method === 'DELETE') return response.end();
    made += 1;
    const expires_at = new Date(Date.now() + 1000).toISOString();
    return response.end(JSON.stringify({ id: `s${made}`, domain: 'box.example.com', expires_at }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // It listens on a port.
  const { port } = server.address() as AddressInfo;
  return {
    ...{ asked, url: `http://127.0.0.1:${port}` },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

it('an exposed service is renewed in time, exposed again when it is gone, and withdrawn at the end', async () => {
  await using server = await forgetfulServer();
  const stopping = new AbortController();
  const { terminal } = collectingTerminal();
  const kept = keepExposed(createMachine(server.url, 'box'), readLocalService('53/udp'), terminal, stopping.signal);
  const again = ['POST /agent/services', 'POST /agent/services/s1/renew', 'POST /agent/services'];
  await expect.poll(() => server.asked.slice(0, 3)).toEqual(again);
  stopping.abort();
  await kept;
  expect(server.asked.at(-1)).toMatch(/^DELETE \/agent\/services\/s\d$/);
});
