import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { openedSpec } from '../setup/opened.ts';
import { eventsOf } from './events.ts';
import { problemsOf } from './problems.ts';
import { sharedApi, testApi } from './setup.ts';

const api = sharedApi();
const path = '/api/integrations/notifications/channels';
const webhook = (target: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...{ type: 'webhook', target: { url: 'https://hooks.example.com', ...target }, event_types: ['user.join'] },
  enabled: true,
  ...more,
});
const email = (more: JsonObject = {}): JsonObject => ({
  ...{ type: 'email', target: { emails: ['ana@example.com'] }, event_types: ['peer.user.add'], enabled: false },
  ...more,
});
const post = (body: JsonObject) => api().call('POST', path, body);

it('a notification channel is created, read, listed, replaced and deleted', async () => {
  await using own = await testApi();
  const made = await own.call('POST', path, email({ event_types: ['user.join', 'peer.user.add', 'user.join'] }));
  const { id } = made.body;
  const answer = { ...email(), id: expect.any(String), event_types: ['user.join', 'peer.user.add'] };
  expect([made.status, made.body]).toEqual([200, answer]);
  expect((await own.call('GET', `${path}/${id}`)).body).toEqual(made.body);
  expect((await own.call('GET', path)).body).toEqual([made.body]);
  const other = webhook({ headers: { 'X-Key': 'k' } });
  const replaced = await own.call('PUT', `${path}/${id}`, other);
  const target = { url: 'https://hooks.example.com', headers: { 'X-Key': '****' } };
  expect([replaced.status, replaced.body]).toEqual([200, { ...other, id, target }]);
  const gone = await own.call('DELETE', `${path}/${id}`);
  expect([gone.status, gone.body]).toEqual([200, {}]);
  for (const [method, body] of [['GET'], ['PUT', other], ['DELETE']] as [string, JsonObject?][])
    expect((await own.call(method, `${path}/${id}`, body)).body).toEqual({
      code: 404,
      message: `notification channel ${id} not found`,
    });
  const events = (await eventsOf(own)).filter((event) => event.startsWith('notification.'));
  expect(events).toEqual([
    'notification.channel.create {"type":"email"}',
    'notification.channel.update {"type":"webhook"}',
    'notification.channel.delete {"type":"webhook"}',
  ]);
});

it('masked header values show the authentication scheme and no other word', async () => {
  const values = [
    'Bearer one',
    'basic b25lOnR3bw==',
    'correct horse battery',
    'Bearer',
    'Bearer ',
    'Basically one',
    'one',
  ];
  const headers = Object.fromEntries(values.map((value, at) => [`X-${at}`, value]));
  const { body } = await post(webhook({ headers }));
  const masks = ['Bearer ****', 'basic ****', '****', '****', '****', '****', '****'];
  expect(Object.values(body.target.headers)).toEqual(masks);
  expect((await api().call('GET', `${path}/${body.id}`)).body).toEqual(body);
});

it('header values are masked, and a mask that is sent back keeps the stored value', async () => {
  const { body } = await post(webhook({ headers: { Authorization: 'Bearer one', 'X-Key': 'two' } }));
  expect(body.target.headers).toEqual({ Authorization: 'Bearer ****', 'X-Key': '****' });
  const before = await api().revision();
  expect((await api().call('PUT', `${path}/${body.id}`, body)).body).toEqual(body);
  expect(await api().revision()).toBe(before);
  const headers = { Authorization: '****', 'X-New': 'three' };
  const changed = await api().call('PUT', `${path}/${body.id}`, webhook({ headers }));
  expect(changed.body.target.headers).toEqual({ Authorization: 'Bearer ****', 'X-New': '****' });
  const stored = (await api().engine.snapshots.current(api().account)).get(body.id);
  const { target } = openedSpec(api().engine, api().account, stored);
  expect(target).toMatchObject({ headers: { Authorization: 'Bearer one', 'X-New': 'three' } });
});

it('a channel without a target is accepted, and returns no target or the empty one that was given', async () => {
  for (const [body, shown] of [
    [email({ target: null }), undefined],
    [email({ target: {} }), {}],
    [webhook({}, { target: { headers: {} } }), { headers: {} }],
  ] as const) {
    const made = await post(body);
    expect([made.status, made.body.target]).toEqual([200, shown]);
    const state = await api().engine.snapshots.fresh(api().account);
    expect(state.get(made.body.id)?.spec).not.toHaveProperty('target');
    const set = await api().call('PUT', `${path}/${made.body.id}`, email());
    expect(set.body.target).toEqual({ emails: ['ana@example.com'] });
    const { target: _, ...rest } = email();
    expect((await api().call('PUT', `${path}/${made.body.id}`, rest)).body).not.toHaveProperty('target');
    api().engine.snapshots.clear();
    expect((await api().call('GET', `${path}/${made.body.id}`)).body).not.toHaveProperty('target');
  }
});

it.each(['type', 'event_types', 'enabled'])('%s of a channel is required', async (name) => {
  const { [name]: _, ...rest } = email();
  const answer = await post(rest);
  expect([answer.status, answer.body.message]).toEqual([422, `\`${name}\` is required; add it`]);
});

it('an unknown event type is refused, with the nearest known one as a suggestion', async () => {
  const answer = await post(email({ event_types: ['user.join', 'user.jion'] }));
  expect([answer.status, problemsOf(answer)]).toEqual([422, ['event_type_invalid /event_types/1']]);
  expect(answer.body.message).toContain('did you mean `user.join`?');
  expect((await post(email({ event_types: ['toString'] }))).status).toBe(422);
  expect((await post(email({ event_types: [] }))).body.event_types).toEqual([]);
});

it.each<[JsonObject, readonly string[]]>([
  [email({ type: 'slack' }), ['value_not_allowed /type']],
  [email({ target: { emails: ['ana'] } }), ['email_invalid /target/emails/0']],
  [email({ target: { emails: ['Ana <ana@example.com>'] } }), ['email_invalid /target/emails/0']],
  [
    email({ target: { url: 'https://x.example.com' } }),
    ['channel_target_incomplete /target', 'channel_target_mixed /target/url'],
  ],
  [email({ target: { emails: ['ana@example.com'], headers: { a: 'b' } } }), ['channel_target_mixed /target/headers']],
  [webhook({ url: 'hooks.example.com' }), ['url_invalid /target/url']],
  [webhook({ url: 'ftp://hooks.example.com' }), ['url_invalid /target/url']],
  [webhook({ url: 'https://me:pass@hooks.example.com' }), ['url_invalid /target/url']],
  [webhook({ url: 'http://hooks.example.com/a?b=c' }), []],
  [webhook({ emails: ['ana@example.com'] }), ['channel_target_mixed /target/emails']],
  [webhook({ headers: { 'not a name': 'x' } }), ['channel_header_invalid /target/headers']],
  [webhook({ headers: { ['x'.repeat(128)]: 'x' } }), []],
  [webhook({ headers: { ['x'.repeat(129)]: 'x' } }), ['channel_header_invalid /target/headers']],
  [webhook({ headers: { 'Webhook-Signature': 'x' } }), ['channel_header_invalid /target/headers']],
  [webhook({ headers: { 'X-Key': 5 } }), ['type_wrong /target/headers/X-Key']],
  [webhook({}, { target: { headers: { a: 'b' } } }), ['channel_target_incomplete /target']],
  [webhook({}, { event_types: 'user.join' }), ['type_wrong /event_types']],
])('the channel %j is answered with the problems %j', async (body, problems) => {
  const answer = await post(body);
  expect([answer.status, problemsOf(answer)]).toEqual([problems.length === 0 ? 200 : 422, problems]);
});

it('the catalogue describes every event type', async () => {
  const types = await api().call('GET', '/api/integrations/notifications/types');
  expect(types.status).toBe(200);
  expect(types.body).toMatchObject({
    ...{ 'user.join': 'User joined', 'peer.user.add': 'Peer added', 'peer.login.expire': 'Peer login expired' },
    ...{ 'route.add': 'Route created', 'edr.sync.token.expire': expect.any(String) },
  });
  expect(new Set(Object.values(types.body).map((text) => typeof text))).toEqual(new Set(['string']));
  const again = await api().call('GET', '/api/integrations/notifications/types', undefined, {
    'if-none-match': String(types.headers['etag']),
  });
  expect(again.status).toBe(304);
});
