import { expect, test } from 'vitest';
import type { Lookup } from '../../src/outbound/checked-addresses.ts';
import { startHost, startProxy } from '../outbound/hosts.ts';
import { certificate } from '../sources/https-certificate.ts';
import { startReceiver } from './receiver.ts';
import { openPost } from './scene.ts';

const host = 'localhost';

/** Returns the last error and the number of failures of the only channel. */
const failure = async (post: Awaited<ReturnType<typeof openPost>>) =>
  (await post.rows('select last_error, failures from deliveries'))[0];

test('with a hostile DNS resolver, only addresses that were checked are connected to', async () => {
  const post = await openPost();
  const receiver = await startHost((_, response) => response.writeHead(204).end(), {
    address: '127.0.0.2',
    secure: true,
  });
  const inside = await startHost((_, response) => response.writeHead(204).end(), { port: receiver.port, secure: true });
  await post.channel({ target: { url: `https://${host}:${receiver.port}/secret-path` } });
  const answers: (() => readonly string[])[] = [
    () => ['127.0.0.1'],
    () => ['10.0.0.1', '::ffff:10.0.0.1'],
    () => [],
    () => {
      throw Object.assign(new Error('the resolver is away'), { code: 'EAI_AGAIN' });
    },
    // Addresses that are not allowed are skipped, wherever they are in the list.
    () => ['127.0.0.1', '127.0.0.2', '192.168.0.1'],
  ];
  let asked = 0;
  const lookup: Lookup = async () => (answers[asked++] ?? (() => ['127.0.0.1']))();
  const server = post.run(post.engine, { lookup, allow: ['127.0.0.2'], authorities: certificate });
  await post.group('one');
  await expect.poll(() => receiver.asked).toEqual(['POST /secret-path']);
  await expect.poll(() => failure(post)).toMatchObject({ failures: 0 });
  // Each attempt resolves the name once, so no second answer can differ from the checked one.
  expect([asked, inside.asked]).toEqual([answers.length, []]);
  const said = String((await failure(post))?.['last_error']);
  expect(said).toMatch(/^localhost has no address that this server connects to for its users/);
  expect([said, ...server.reports].join()).not.toMatch(/secret-path|127\.0|10\.0\.0/);
});

test('a proxy gets the address that was checked, and a request that the proxy refuses is retried', async () => {
  const post = await openPost();
  const receiver = await startReceiver(post.keys);
  await post.channel({ target: { url: `http://${host}:${receiver.port}/hook` } });
  const [proxy, refusing] = [await startProxy(), await startProxy({ status: 407 })];
  const lookup: Lookup = async () => ['127.0.0.1'];
  const through = (port: number) => ({
    url: `http://ana:s3cret@127.0.0.1:${port}`,
    exclusions: [],
    checksHosts: false,
  });
  const first = post.run(post.engine, { lookup, allow: [host], proxy: through(refusing.port) });
  await post.group('one');
  const said = `the proxy of this server answers 407 for 127.0.0.1:${receiver.port}`;
  await expect.poll(() => failure(post)).toMatchObject({ last_error: said });
  await first.stop();
  post.run(post.engine, { lookup, allow: [host], proxy: through(proxy.port) });
  await expect.poll(() => receiver.accepted.length).toBe(1);
  expect([new Set(proxy.asked), receiver.faults]).toEqual([new Set([`127.0.0.1:${receiver.port}`]), []]);
});
