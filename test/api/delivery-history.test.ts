import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { createVault } from '../../src/db/sealing/vault.ts';
import { asObject, type JsonObject } from '../../src/lib/json.ts';
import { rowsOf } from '../commit/office.ts';
import { testDatabase } from '../setup/database.ts';
import { backUp, keys, restore } from './archive-setup.ts';
import { openScene } from './delivery-scene.ts';
import { doc } from './documents.ts';
import { apiOn, asOperator, type TestApi, testApi } from './setup.ts';

const withKeys = (options: object) => testApi('postgres', { ...options, ...keys });

const channels = '/api/integrations/notifications/channels';
const channelTo = (url: string) => ({
  ...{ type: 'webhook', event_types: ['group.add'], enabled: true },
  target: { url },
});

const cursorOf = async ({ engine }: TestApi) =>
  Number((await rowsOf(engine.database, 'select cursor from deliveries'))[0]?.['cursor']);

test('a restored account resumes its deliveries: no event is repeated or lost', async () => {
  const { api, call, receiver, channel, names, only } = await openScene(withKeys);
  await channel();
  await api.group('before');
  await expect.poll(names).toEqual(['before']);
  const archive = await backUp(api);
  receiver.usually(403);
  await api.group('waiting');
  await expect.poll(async () => (await only()).state).toBe('paused');
  const cursor = await cursorOf(api);
  expect((await restore(api, archive, { replace: api.account })).status).toBe(200);
  expect(await cursorOf(api)).toBe(cursor);
  receiver.usually(204);
  await call('POST', `/api/config/deliveries/${(await only()).id}/resume`);
  await api.group('after');
  await expect.poll(names).toEqual(['before', 'waiting', 'after']);
  expect(receiver.faults).toEqual([]);
});

test('a channel restored from an archive starts with the events after the restore', async () => {
  const { api, call, channel, names, only } = await openScene(withKeys);
  const id = await channel();
  await api.group('before');
  await expect.poll(names).toEqual(['before']);
  const archive = await backUp(api);
  await call('DELETE', `${channels}/${id}`);
  await api.group('while it was gone');
  expect((await restore(api, archive, { replace: api.account })).status).toBe(200);
  await api.group('after');
  await expect.poll(names).toEqual(['before', 'after']);
  await expect.poll(only).toMatchObject({ id, state: 'idle', message: 'everything is delivered' });
});

test('an account moved to another server delivers new events there, signed with a key of that server', async () => {
  const { api: there, receiver, names } = await openScene(withKeys);
  await using here = await withKeys({});
  await here.call('POST', channels, channelTo(receiver.url));
  await here.group('on the former server');
  const archive = await backUp(here);
  expect((await restore(there, archive)).status).toBe(200);
  await there.group('on the new server');
  await expect.poll(names).toEqual(['on the new server']);
  expect(receiver.faults).toEqual([]);
});

test('a rollback moves no cursor, and a channel that it restores starts after the rollback', async () => {
  const { api, call, receiver, channel, names } = await openScene();
  await channel();
  const spec = (types: string) =>
    `type: webhook\nevent_types: [${types}]\ntarget: {url: {valueFrom: {envRef: HEDDLE_VALUE_CHAT}}, headers: {x-of: {valueFrom: {envRef: HEDDLE_VALUE_OF}}}}`;
  const apply = async (...documents: readonly string[]) => {
    const files = [{ path: 'a.yaml', text: documents.join('---\n') }];
    const values: JsonObject = { 'env:HEDDLE_VALUE_CHAT': receiver.url, 'env:HEDDLE_VALUE_OF': 'second' };
    expect((await call('POST', '/api/config/apply', { source: 'team', files, values })).status).toBe(200);
  };
  await apply(doc('NotificationChannel', 'second', spec('group.add')), doc('Group', 'kept', 'name: kept'));
  const then = await api.revision();
  await api.group('both');
  await expect.poll(() => names().filter((name) => name === 'both').length).toBe(2);
  await apply(doc('Group', 'kept', 'name: kept'));
  await api.group('one alone');
  await expect.poll(() => names().at(-1)).toBe('one alone');
  const plan = await call('POST', `/api/config/revisions/${then}/rollback`);
  expect((await call('POST', `/api/config/plans/${plan.body.id}/apply`, {})).status).toBe(200);
  await api.group('both again');
  await expect.poll(() => names().filter((name) => name === 'both again').length).toBe(2);
  const namesOf = (of: string | undefined) =>
    receiver.attempts.filter(({ headers }) => headers['x-of'] === of).map(({ body }) => asObject(body['meta'])['name']);
  expect(namesOf('second')).toEqual(['both', 'both again']);
  expect(namesOf(undefined)).toEqual(['kept', 'both', 'one alone', 'both again']);
});

test('webhook keys are resealed with all secrets: receivers verify with the same key, and the old sealing key is not needed', async () => {
  const made = await testDatabase('postgres');
  onTestFinished(() => made[Symbol.asyncDispose]());
  const [first, second] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const openOn = (...secrets: readonly Uint8Array[]) =>
    openScene(async (options) => {
      const database = await openDatabase({ url: made.url ?? '' });
      return apiOn(database, () => database.close(), { ...options, vault: createVault([...secrets]) });
    });
  const old = await openOn(first);
  await old.channel();
  await old.api.group('one');
  await expect.poll(old.names).toEqual(['one']);
  const published = await old.keys();
  await old.stop();
  const both = await openOn(second, first);
  expect((await both.call('POST', '/api/config/secrets/rotate', {}, asOperator)).body).toMatchObject({
    unreadable: [],
  });
  await both.stop();
  const fresh = await openOn(second);
  await fresh.api.group('two');
  await expect.poll(old.names).toEqual(['one', 'two']);
  expect(await fresh.keys()).toEqual(published);
  expect([old.receiver.faults, published.length]).toEqual([[], 1]);
});
