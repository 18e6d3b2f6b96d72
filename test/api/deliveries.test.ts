import { expect, test } from 'vitest';
import { rowsOf } from '../commit/office.ts';
import { openScene, path } from './delivery-scene.ts';

test('GET /api/config/deliveries reports the state of each delivery in a sentence, without secrets', async () => {
  const { api, call, receiver, channel, only, names } = await openScene();
  const id = await channel();
  const named = { id, kind: 'NotificationChannel', type: 'webhook' };
  expect(await only()).toMatchObject({ ...named, state: 'idle', message: 'everything is delivered', setAside: [] });
  receiver.usually(403);
  await api.group('one');
  await api.group('two');
  await expect.poll(async () => (await only()).state).toBe('paused');
  await expect.poll(async () => (await only()).lag.events).toBe(2);
  const { message, lastError, nextAttemptAt } = await only();
  expect(message).toBe(`paused: ${lastError}; 2 events wait`);
  expect(Date.parse(nextAttemptAt)).toBeGreaterThan(Date.now() + 3_000_000);
  receiver.usually(204);
  expect((await call('POST', `${path}/${id}/resume`)).status).toBe(200);
  await expect.poll(names).toEqual(['one', 'two']);
  await expect.poll(only).toMatchObject({ state: 'idle', failures: 0, lastSuccessAt: expect.any(String) });
  await call('PUT', `/api/integrations/notifications/channels/${id}`, {
    ...{ type: 'webhook', event_types: ['group.add'], enabled: false },
  });
  expect(await only()).toMatchObject({ state: 'disabled', message: 'disabled: nothing is sent' });
  const stored = await rowsOf(
    api.engine.database,
    'select to_jsonb(d)::text as row from deliveries d union all select to_jsonb(e)::text from audit_events e',
  );
  expect(JSON.stringify([stored, await call('GET', path)])).not.toMatch(/top-secret|\/hook/);
});

test('events that were set aside are retried or discarded, one or all', async () => {
  const { api, call, receiver, channel, only, names } = await openScene();
  const id = await channel();
  receiver.usually(400);
  for (const name of ['one', 'two', 'three', 'four']) await api.group(name);
  await expect.poll(async () => (await only()).setAsideCount).toBe(4);
  const { setAside, message } = await only();
  expect(message).toBe('everything is delivered; 4 events are set aside');
  expect(setAside[0]).toEqual({
    feed: 'audit',
    event: expect.any(Number),
    activity_code: 'group.add',
    reason: `127.0.0.1:${receiver.port} answers 400`,
    at: expect.any(String),
    retrying: false,
  });
  receiver.usually(204);
  expect((await call('POST', `${path}/${id}/retry?event=${setAside[2].event}`)).status).toBe(200);
  await expect.poll(names).toEqual(['three']);
  expect((await call('POST', `${path}/${id}/discard?event=${setAside[0].event}`)).status).toBe(200);
  await expect.poll(async () => (await only()).setAsideCount).toBe(2);
  expect((await call('POST', `${path}/${id}/discard?event=${setAside[0].event}`)).status).toBe(404);
  const record = await call('POST', `${path}/${id}/retry?event=3&feed=proxy`);
  expect([record.status, record.body.message]).toEqual([404, expect.stringContaining('event proxy-3 not found')]);
  expect((await call('POST', `${path}/${id}/retry`)).status).toBe(200);
  await expect.poll(names).toEqual(['three', 'two', 'four']);
  await expect.poll(only).toMatchObject({ state: 'idle', setAsideCount: 0 });
  for (const verb of ['resume', 'retry', 'discard'])
    expect((await call('POST', `${path}/nobody/${verb}`)).status).toBe(404);
  const codes = await rowsOf(
    api.engine.database,
    "select activity_code as code, meta ->> 'event' as event from audit_events where activity_code like 'integration.%' order by id",
  );
  expect(codes).toEqual([
    { code: 'integration.delivery_failed', event: null },
    { code: 'integration.delivery_retried', event: String(setAside[2].event) },
    { code: 'integration.delivery_discarded', event: String(setAside[0].event) },
    { code: 'integration.delivery_retried', event: 'all' },
  ]);
});

test('an event to be retried stays set aside when its channel was disabled meanwhile', async () => {
  const { api, call, receiver, channel, only } = await openScene();
  const id = await channel();
  receiver.usually(400);
  await api.group('one');
  await expect.poll(async () => (await only()).setAsideCount).toBe(1);
  const spec = { type: 'webhook', event_types: ['group.add'], enabled: false };
  await call('PUT', `/api/integrations/notifications/channels/${id}`, spec);
  expect((await call('POST', `${path}/${id}/retry`)).status).toBe(200);
  await expect.poll(async () => (await only()).setAside[0].retrying).toBe(false);
  expect(receiver.attempts).toHaveLength(1);
});

test('the account status lists the deliveries that need attention, one sentence each', async () => {
  const { api, call, receiver, channel } = await openScene();
  const status = async () => (await call('GET', '/api/config/status')).body.deliveries;
  const id = await channel();
  expect(await status()).toBeUndefined();
  const named = { id, kind: 'NotificationChannel', type: 'webhook' };
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  receiver.next(async (response) => {
    await answered;
    response.writeHead(400).end();
  }, 403);
  await api.group('one');
  await api.group('two');
  await expect.poll(() => receiver.attempts.length).toBe(1);
  expect(await status()).toBeUndefined();
  await rowsOf(
    api.engine.database,
    "update audit_events set created_at = now() - interval '3 hours' where meta ->> 'name' in ('one', 'two') returning id",
  );
  const behind = { ...named, state: 'delivering', message: '2 events wait, the oldest for 3 hours' };
  expect(await status()).toEqual([behind]);
  answer();
  const fault = `127.0.0.1:${receiver.port} answers 403; see whether its credentials are right`;
  const paused = `paused: ${fault}; 1 event waits for 3 hours; 1 event is set aside`;
  await expect.poll(status).toEqual([{ ...named, state: 'paused', message: paused }]);
  await call('POST', `${path}/${id}/resume`);
  const settled = { ...named, state: 'idle', message: 'everything is delivered; 1 event is set aside' };
  await expect.poll(status).toEqual([settled]);
  await call('POST', `${path}/${id}/discard`);
  await expect.poll(status).toBeUndefined();
});

test('a delivery resumes with the events since a given time', async () => {
  const { api, call, channel, names } = await openScene();
  await api.group('before');
  const id = await channel();
  await api.group('after');
  await expect.poll(names).toEqual(['after']);
  expect((await call('POST', `${path}/${id}/resume?since=2020-01-01T00:00:00Z`)).status).toBe(200);
  await expect.poll(() => names().slice(-2)).toEqual(['before', 'after']);
  const count = names().length;
  await call('POST', `${path}/${id}/resume?since=2100-01-01T00:00:00Z`);
  await api.group('last');
  await expect.poll(() => names().slice(count)).toEqual(['last']);
});

test('testing a channel sends the audit event of the test, and returns the answer of the receiver', async () => {
  const { call, receiver, channel } = await openScene();
  const id = await channel({ enabled: false });
  const sample = async (of = id) => (await call('POST', `/api/integrations/notifications/channels/${of}/test`)).body;
  expect(await sample()).toEqual({ delivered: true, message: 'the receiver accepted the sample' });
  expect(receiver.accepted[0]?.body).toMatchObject({ type: 'notification.channel.test', target: { id } });
  receiver.usually(500);
  expect(await sample()).toEqual({ delivered: false, message: `127.0.0.1:${receiver.port} answers 500` });
  expect(receiver.attempts[1]?.id).not.toBe(receiver.attempts[0]?.id);
  const empty = await channel({ target: null });
  expect(await sample(empty)).toEqual({
    delivered: false,
    message: 'the channel has no target, so nothing is sent; give it one',
  });
  expect((await call('POST', '/api/integrations/notifications/channels/nobody/test')).status).toBe(404);
});

test('after a key rotation the old and the new key both sign, and reading public keys requires no credentials', async () => {
  const { api, call, receiver, channel, keys, names } = await openScene();
  expect(await keys()).toEqual([]);
  await channel();
  await api.group('one');
  await expect.poll(names).toEqual(['one']);
  const [first] = await keys();
  const rotated = (await call('POST', '/api/integrations/notifications/webhook-keys/rotate')).body;
  expect(rotated.keys).toEqual([
    { id: expect.any(String), key: expect.stringMatching(/^whpk_/), created_at: expect.any(String) },
    expect.objectContaining({ key: first, retired_at: expect.any(String) }),
  ]);
  expect(await keys()).toEqual(rotated.keys.map(({ key }: { readonly key: string }) => key));
  await channel({ event_types: ['group.add'] });
  await api.group('two');
  await expect.poll(() => receiver.accepted.filter(({ signatures }) => signatures === 2).length).toBe(2);
  expect(receiver.faults).toEqual([]);
  expect((await call('GET', '/.well-known/heddle/webhook-keys.json')).status).toBe(422);
  expect((await call('GET', '/.well-known/heddle/webhook-keys.json?account=nobody')).body.keys).toEqual([]);
});
