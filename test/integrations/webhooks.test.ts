import { expect, test } from 'vitest';
import { asObject } from '../../src/lib/json.ts';
import { startReceiver } from './receiver.ts';
import { openPost } from './scene.ts';

const names = (received: readonly { readonly body: { readonly [name: string]: unknown } }[]) =>
  received.map(({ body }) => (body['meta'] as { readonly name: string }).name);

test('events after the creation of a channel are posted in order, signed, and once each', async () => {
  const post = await openPost();
  await post.group('before');
  const receiver = await startReceiver(post.keys);
  await post.channel({ target: { url: receiver.url, headers: { Authorization: 'Bearer abc' } } });
  post.run();
  await post.group('one', 'two', 'three');
  await expect.poll(() => names(receiver.accepted)).toEqual(['one', 'two', 'three']);
  const [first] = receiver.accepted;
  expect(receiver.faults).toEqual([]);
  expect(first?.headers).toMatchObject({ authorization: 'Bearer abc', 'user-agent': 'Heddle/test' });
  expect(first?.body).toEqual({
    id: expect.any(Number),
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    type: 'group.add',
    activity: 'Group created',
    account: post.account,
    initiator: { id: 'u1', name: 'Ana', email: '' },
    target: { id: expect.any(String), name: 'one' },
    meta: { name: 'one' },
  });
  expect(first?.id).toBe(`evt_${post.account}_${String(first?.body['id'])}`);
});

test('a message links to the page of its object when the server knows its public URL', async () => {
  const post = await openPost();
  const receiver = await startReceiver(post.keys);
  await post.channel({ target: { url: receiver.url } });
  post.run(post.engine, { publicUrl: 'https://mesh.example.com/' });
  await post.group('one');
  await expect.poll(() => receiver.accepted.length).toBe(1);
  const { target, url } = receiver.accepted[0]?.body ?? {};
  expect(url).toBe(`https://mesh.example.com/#objects/${String(asObject(target)['id'])}`);
});

test('many waiting events are posted one by one, and recorded together', async () => {
  const post = await openPost();
  const receiver = await startReceiver(post.keys);
  await post.channel({ target: { url: receiver.url } });
  await post.rows('create sequence cursor_writes');
  await post.rows(`create function count_cursor_write() returns trigger language plpgsql security definer
    as $$ begin perform nextval('cursor_writes'); return new; end $$`);
  await post.rows(
    'create trigger counted before update of cursor on deliveries for each row execute function count_cursor_write()',
  );
  const groups = Array.from({ length: 40 }, (_, at) => `group-${at}`);
  await post.group(...groups);
  post.run();
  await expect.poll(() => names(receiver.accepted)).toEqual(groups);
  const behind = () =>
    post.rows('select audit_sequence - cursor as left from deliveries join accounts using (account_id)');
  await expect.poll(behind).toEqual([{ left: 0 }]);
  const [writes] = await post.rows('select last_value::int as count from cursor_writes');
  expect(writes?.['count']).toBeLessThan(groups.length);
});

test('a failed event is sent again with the same id and a new signing time, before any later event', async () => {
  const post = await openPost();
  const receiver = await startReceiver(post.keys);
  await post.channel({ target: { url: receiver.url } });
  receiver.next(500, 503, (response) => response.destroy());
  post.run();
  await post.group('one', 'two');
  await expect.poll(() => names(receiver.accepted)).toEqual(['one', 'two']);
  expect(names(receiver.attempts)).toEqual(['one', 'one', 'one', 'one', 'two']);
  expect(new Set(receiver.attempts.map(({ id }) => id)).size).toBe(2);
  expect(receiver.faults).toEqual([]);
});

test('a refused event is set aside, and the events after it are sent', async () => {
  const post = await openPost();
  const receiver = await startReceiver(post.keys);
  const id = await post.channel({ target: { url: receiver.url } });
  receiver.next(204, 422);
  post.run();
  await post.group('one', 'two', 'three');
  await expect.poll(() => names(receiver.accepted)).toEqual(['one', 'three']);
  await expect
    .poll(() => post.rows('select event_id, reason from set_aside_events'))
    .toEqual([{ event_id: expect.any(Number), reason: `127.0.0.1:${receiver.port} answers 422` }]);
  expect(
    await post.rows("select target_id, meta from audit_events where activity_code = 'integration.delivery_failed'"),
  ).toEqual([{ target_id: id, meta: expect.objectContaining({ kind: 'NotificationChannel', type: 'webhook' }) }]);
});

test('a channel is paused after 401, keeps its queue, and continues with new settings', async () => {
  const post = await openPost();
  const receiver = await startReceiver(post.keys);
  const id = await post.channel({ target: { url: receiver.url } });
  receiver.usually(401);
  post.run();
  await post.group('one', 'two');
  const state = () => post.rows('select paused, failures, last_error from deliveries');
  await expect
    .poll(state)
    .toEqual([
      { paused: true, failures: 1, last_error: expect.stringContaining('answers 401; see whether its credentials') },
    ]);
  await post.group('three');
  receiver.usually(204);
  await post.changeChannel(id, { target: { url: receiver.url, headers: { 'X-Key': 'new' } } });
  await expect.poll(() => names(receiver.accepted)).toEqual(['one', 'two', 'three']);
  await expect.poll(state).toEqual([expect.objectContaining({ paused: false, failures: 0 })]);
});

test('a disabled channel never sends its events, and a deleted one leaves no data', async () => {
  const post = await openPost();
  const receiver = await startReceiver(post.keys);
  const id = await post.channel({ target: { url: receiver.url }, enabled: false });
  post.run();
  await post.group('one');
  const behind = () =>
    post.rows('select audit_sequence - cursor as behind from deliveries join accounts using (account_id)');
  await expect.poll(behind).toEqual([{ behind: 0 }]);
  await post.changeChannel(id, { target: { url: receiver.url } });
  await post.group('two');
  await expect.poll(() => names(receiver.accepted)).toEqual(['two']);
  await post.deleteChannel(id);
  await post.group('three');
  expect(await post.rows('select channel_id from deliveries')).toEqual([]);
  expect(names(receiver.accepted)).toEqual(['two']);
});

test('an idle channel needs no write and no lease', async () => {
  const post = await openPost();
  const receiver = await startReceiver(post.keys);
  await post.channel({ target: { url: receiver.url } });
  const server = post.run();
  await post.group('one');
  await expect.poll(() => names(receiver.accepted)).toEqual(['one']);
  const rows = () => post.rows('select d.xmin::text, cursor, l.until < now() as free from deliveries d, leases l');
  await expect.poll(rows).toEqual([expect.objectContaining({ free: true })]);
  const before = await rows();
  let looks = 0;
  post.engine.observer.on(({ what }) => {
    if (what === 'delivery_backlog') looks += 1;
  });
  await expect.poll(() => looks).toBeGreaterThan(3);
  expect(await rows()).toEqual(before);
  expect(server.reports).toEqual([]);
});
