import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { startReceiver } from './receiver.ts';
import { openPost } from './scene.ts';

/** Opens a post with a channel to a receiver, and functions that read what is stored about the channel. */
async function openScene() {
  const post = await openPost();
  const receiver = await startReceiver(post.keys);
  const id = await post.channel({ target: { url: receiver.url } });
  const host = `127.0.0.1:${receiver.port}`;
  return {
    ...{ ...post, receiver, id, host },
    names: () => receiver.accepted.map(({ body }) => (body['meta'] as JsonObject)['name']),
    state: async () => (await post.rows('select paused, failures, last_error, cursor from deliveries'))[0],
    failed: () => post.rows("select meta from audit_events where activity_code = 'integration.delivery_failed'"),
  };
}

test('a redirect pauses the channel and is not followed', async () => {
  const { run, group, receiver, host, state } = await openScene();
  receiver.next((response) => response.writeHead(301, { location: '/elsewhere' }).end());
  run();
  await group('one');
  await expect.poll(state).toMatchObject({
    ...{ paused: true, failures: 1 },
    last_error: `${host} answers with a redirect, which is not followed; write the address that it redirects to`,
  });
  expect(receiver.attempts).toHaveLength(1);
});

test('a request without an answer is given up and retried', async () => {
  const { run, engine, group, receiver, names, state, host } = await openScene();
  receiver.next(
    () => undefined,
    () => undefined,
  );
  run(engine, { timeoutMs: 100 });
  await group('one');
  await expect.poll(state).toMatchObject({ last_error: `${host} did not answer within 0.1 s` });
  await expect.poll(names).toEqual(['one']);
  expect(new Set(receiver.attempts.map(({ id }) => id)).size).toBe(1);
  // More if the receiver, too, took longer than the timeout.
  expect(receiver.attempts.length).toBeGreaterThanOrEqual(3);
});

test('a truncated answer is a failure, and the event is sent again', async () => {
  const { run, group, receiver, names } = await openScene();
  receiver.next((response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('half', () => response.destroy());
  });
  run();
  await group('one', 'two');
  await expect.poll(names).toEqual(['one', 'two']);
  expect(receiver.attempts).toHaveLength(3);
});

test('a channel keeps its queue while the receiver is down for long, and one audit event reports it', async () => {
  const { run, group, receiver, names, state, failed } = await openScene();
  await receiver.stop();
  const server = run();
  await group('one', 'two', 'three');
  await expect.poll(async () => (await state())?.['failures']).toBeGreaterThan(6);
  expect(await failed()).toEqual([
    { meta: { kind: 'NotificationChannel', type: 'webhook', reason: '127.0.0.1 does not answer (ECONNREFUSED)' } },
  ]);
  await receiver.start();
  await expect.poll(names).toEqual(['one', 'two', 'three']);
  await expect.poll(state).toMatchObject({ paused: false, failures: 0 });
  expect(await failed()).toHaveLength(1);
  expect(server.reports).toEqual([]);
});

test('Retry-After of a receiver delays the next attempt', async () => {
  const { run, group, receiver, rows } = await openScene();
  receiver.next((response) => response.writeHead(429, { 'retry-after': '600' }).end());
  run();
  await group('one');
  const wait = () => rows('select round(extract(epoch from next_at - last_error_at))::int as seconds from deliveries');
  await expect.poll(wait).toEqual([{ seconds: 600 }]);
  expect(receiver.attempts).toHaveLength(1);
});

test.each([
  'http://127.0.0.1',
  'https://127.0.0.1',
  'https://localhost',
  'https://169.254.169.254',
  'https://[::ffff:10.0.0.1]',
])('%s is not connected to unless the operator allows it, and the status gives advice', async (base) => {
  const { run, engine, group, receiver, changeChannel, id, state } = await openScene();
  await changeChannel(id, { target: { url: `${base}:${receiver.port}/secret-path` } });
  run(engine, { allow: [] });
  await group('one');
  await expect.poll(state).toMatchObject({ last_error: expect.stringContaining('HEDDLE_OUTBOUND_ALLOW') });
  expect((await state())?.['last_error']).not.toContain('secret-path');
  expect(receiver.attempts).toEqual([]);
});

test('one of two servers at a time delivers to a channel', async () => {
  const { run, another, group, receiver, names } = await openScene();
  let [open, most] = [0, 0];
  receiver.usually((response) => {
    open += 1;
    most = Math.max(most, open);
    setImmediate(() => {
      open -= 1;
      response.writeHead(204).end();
    });
  });
  run();
  run(await another());
  const groups = Array.from({ length: 20 }, (_, at) => `group ${at}`);
  await group(...groups);
  await expect.poll(() => receiver.attempts.length).toBe(20);
  expect(receiver.attempts.map(({ body }) => (body['meta'] as JsonObject)['name'])).toEqual(groups);
  expect([most, names(), receiver.faults]).toEqual([1, [], []]);
});

test('a worker that loses its lease while it waits for an answer writes nothing', async () => {
  const { run, another, group, receiver, names, rows } = await openScene();
  const { promise, resolve } = Promise.withResolvers<void>();
  receiver.next(async (response) => {
    await promise;
    response.writeHead(500).end();
  });
  const slow = run();
  await group('one');
  await expect.poll(() => receiver.attempts.length).toBe(1);
  await rows("update leases set until = now() - interval '1 second' where name like 'delivery/%' returning name");
  run(await another());
  await expect.poll(names).toEqual(['one']);
  resolve();
  await slow.stop();
  await group('two');
  await expect.poll(names).toEqual(['one', 'two']);
  expect(await rows('select failures, last_error from deliveries')).toEqual([{ failures: 0, last_error: null }]);
});

test('channels of an earlier release get a cursor when a newer server starts', async () => {
  const { run, group, rows, names } = await openScene();
  await rows('delete from deliveries returning channel_id');
  await group('before');
  const first = run();
  await expect.poll(() => rows('select cursor from deliveries')).toHaveLength(1);
  await group('after');
  await expect.poll(names).toEqual(['after']);
  expect(first.reports).toEqual([]);
});

test('a server with an embedded database delivers events too', async () => {
  const post = await openPost('embedded');
  const receiver = await startReceiver(post.keys);
  await post.channel({ target: { url: receiver.url } });
  receiver.next(500, 422);
  post.run();
  await post.group('one', 'two');
  await expect.poll(() => receiver.accepted.map(({ body }) => (body['meta'] as JsonObject)['name'])).toEqual(['two']);
  expect(await post.rows('select retry from set_aside_events')).toEqual([{ retry: false }]);
});
