import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Client, createClient } from '../../src/kubernetes/client.ts';
import { connectByKubeconfig } from '../../src/kubernetes/connection.ts';
import type { Resource } from '../../src/kubernetes/resource.ts';
import { asObjectOrEmpty, type JsonObject } from '../../src/lib/json.ts';
import { sha256Base64 } from '../../src/lib/node-pure.ts';
import { openSampleAccount } from '../sources/office-source.ts';
import { conditionsAt, installDefinitions } from './definitions.ts';

let client: Client;

beforeAll(async () => {
  client = createClient({ connection: await connectByKubeconfig(inject('kubeconfig')), fieldManager: 'test' });
  await installDefinitions(client);
});

afterAll(() => client.close());

/** Creates a namespace, and starts a server that reads and writes its Secrets. */
async function follow(namespace: string) {
  const metadata = { name: namespace };
  await client.apply(`/api/v1/namespaces/${namespace}`, { apiVersion: 'v1', kind: 'Namespace', metadata });
  const office = await openSampleAccount();
  const settings = { name: 'k8s', kubeconfigFile: inject('kubeconfig'), secrets: { read: true, write: true } };
  const server = office.run([], {
    clusters: [{ ...settings, namespaces: [{ names: [namespace], limits: { kindShare: 1 } }] }],
  });
  const at = (plural: string, name: string) => `/apis/heddle.dev/v1/namespaces/${namespace}/${plural}/${name}`;
  const secretAt = (name: string) => `/api/v1/namespaces/${namespace}/secrets/${name}`;
  const apply = (kind: string, plural: string, name: string, spec: JsonObject, annotations: JsonObject = {}) =>
    client.apply(at(plural, name), { apiVersion: 'heddle.dev/v1', kind, metadata: { name, annotations }, spec });
  return {
    ...{ office, server, at, secretAt, apply },
    conditions: (plural: string, name: string) => conditionsAt(client, at(plural, name)),
    status: async (plural: string, name: string) => (await client.get(at(plural, name))).status as JsonObject,
    putSecret: (name: string, stringData: JsonObject) =>
      client.apply(secretAt(name), { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData }),
    /** Makes the server reconcile again by creating a group, and waits until the group is ready. */
    async look(name: string) {
      await apply('Group', 'groups', name, {});
      await expect.poll(() => conditionsAt(client, at('groups', name))).toMatchObject({ Ready: 'True' });
    },
    async object(kind: string, key: string) {
      return (await office.engine.snapshots.fresh(office.account)).findByKey(kind, key);
    },
  };
}

const ready = { Ready: 'True', Stalled: 'False' };
const named = { 'heddle.dev/output-secret': 'enrol' };
const key = { name: 'CI', type: 'reusable', expires_in: 86_400 };

function channel(secret: string): JsonObject {
  const headers = { Authorization: { valueFrom: { secretKeyRef: { name: secret, key: 'token' } } } };
  return { type: 'webhook', target: { url: 'https://hooks.example.com/mesh', headers }, event_types: ['user.join'] };
}

/** Returns the decoded value of a key of a Secret. */
function textIn({ data }: Resource, name: string): string {
  return Buffer.from(String(asObjectOrEmpty(data)[name]), 'base64').toString();
}

test('a resource takes its secret from a Secret that is first missing, then created, then changed', async () => {
  const { apply, conditions, status, putSecret, look, object } = await follow('secrets-in');
  await apply('NotificationChannel', 'notificationchannels', 'web', channel('hook'));
  await expect
    .poll(() => conditions('notificationchannels', 'web'))
    .toMatchObject({ Ready: 'False', Reconciling: 'True', Stalled: 'False' });
  expect(await status('notificationchannels', 'web')).toMatchObject({
    problems: [{ code: 'secret_unset', path: '/spec/target/headers/Authorization/valueFrom' }],
  });
  await putSecret('hook', { token: 'Bearer alphasecret' });
  await expect.poll(() => conditions('notificationchannels', 'web')).toMatchObject(ready);
  const first = await object('NotificationChannel', 'web');
  await look('same');
  expect(await object('NotificationChannel', 'web')).toEqual(first);
  await putSecret('hook', { token: 'Bearer bravosecret' });
  await look('rotated');
  await expect
    .poll(async () => (await object('NotificationChannel', 'web'))?.updatedRevision)
    .toBeGreaterThan(first?.updatedRevision ?? 0);
  expect(await conditions('notificationchannels', 'web')).toMatchObject(ready);
});

test('a setup key is written to the Secret that its resource names, owned by that resource', async () => {
  const { apply, conditions, status, secretAt, object, at, look } = await follow('secrets-out');
  await apply('SetupKey', 'setupkeys', 'ci', key, named);
  await expect.poll(() => conditions('setupkeys', 'ci')).toMatchObject(ready);
  expect(await status('setupkeys', 'ci')).toMatchObject({ outputSecret: 'enrol' });
  const secret = await client.get(secretAt('enrol'));
  expect(sha256Base64(textIn(secret, 'key'))).toBe((await object('SetupKey', 'ci'))?.derived['key_hash']);
  const { uid } = (await client.get(at('setupkeys', 'ci'))).metadata;
  // In a cluster, the garbage collector deletes owned objects with their owner. This API server runs without it.
  expect(secret.metadata.ownerReferences).toEqual([{ apiVersion: 'heddle.dev/v1', kind: 'SetupKey', name: 'ci', uid }]);
  await look('other');
  await client.delete(at('setupkeys', 'ci'));
  await expect.poll(() => object('SetupKey', 'ci')).toBeUndefined();
});

test('a Secret of another owner is not overwritten, and the value is written when the name is free', async () => {
  const { apply, conditions, status, secretAt, putSecret, look } = await follow('secrets-taken');
  await putSecret('enrol', { password: 'theirs' });
  await apply('SetupKey', 'setupkeys', 'ci', key, named);
  await expect.poll(() => conditions('setupkeys', 'ci')).toMatchObject({ Ready: 'False', Stalled: 'True' });
  expect(await status('setupkeys', 'ci')).toMatchObject({ problems: [{ code: 'output_secret_taken' }] });
  expect(textIn(await client.get(secretAt('enrol')), 'password')).toBe('theirs');
  await client.delete(secretAt('enrol'));
  await look('free');
  await expect.poll(() => conditions('setupkeys', 'ci')).toMatchObject(ready);
  expect(textIn(await client.get(secretAt('enrol')), 'key')).toMatch(/^[0-9A-F-]{36}$/);
});

test('a deleted output Secret is written with a new value if the key is renewed', async () => {
  const { apply, conditions, status, secretAt, look, object } = await follow('secrets-renewed');
  await apply('SetupKey', 'setupkeys', 'ci', key, { ...named, 'heddle.dev/renew-before': '2h' });
  await apply('SetupKey', 'setupkeys', 'once', key, { 'heddle.dev/output-secret': 'once' });
  await expect.poll(() => conditions('setupkeys', 'ci')).toMatchObject(ready);
  await expect.poll(() => conditions('setupkeys', 'once')).toMatchObject(ready);
  const before = textIn(await client.get(secretAt('enrol')), 'key');
  const { id } = await status('setupkeys', 'ci');
  await client.delete(secretAt('enrol'));
  await client.delete(secretAt('once'));
  await look('again');
  await expect.poll(() => status('setupkeys', 'once')).toMatchObject({ problems: [{ code: 'output_secret_gone' }] });
  await expect.poll(() => conditions('setupkeys', 'ci')).toMatchObject(ready);
  const after = textIn(await client.get(secretAt('enrol')), 'key');
  expect(after).not.toBe(before);
  expect(await status('setupkeys', 'ci')).toMatchObject({ id });
  expect((await object('SetupKey', 'ci'))?.derived).toMatchObject({
    key_hash: sha256Base64(after),
    former: [{ key_hash: sha256Base64(before) }],
  });
});

test('E122: no secret value is in a status, an event, a report or the database', async () => {
  const { office, server, apply, conditions, status, secretAt, putSecret } = await follow('secrets-leak');
  await putSecret('hook', { token: 'Bearer charliesecret' });
  await apply('NotificationChannel', 'notificationchannels', 'web', channel('hook'));
  await apply('SetupKey', 'setupkeys', 'ci', key, named);
  await expect.poll(() => conditions('notificationchannels', 'web')).toMatchObject(ready);
  await expect.poll(() => conditions('setupkeys', 'ci')).toMatchObject(ready);
  const value = textIn(await client.get(secretAt('enrol')), 'key');
  const { items } = await client.list('/apis/events.k8s.io/v1/namespaces/secrets-leak/events');
  const tables = await office.rows(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  const rows = await Promise.all(tables.map(({ name }) => office.rows(`select t::text as text from "${name}" t`)));
  const statuses = [await status('notificationchannels', 'web'), await status('setupkeys', 'ci')];
  expect(items.length).toBeGreaterThan(1);
  const shown = JSON.stringify([items, rows, statuses, server.reports]);
  for (const secret of ['charliesecret', value])
    for (const text of [secret, Buffer.from(secret).toString('base64')]) expect(shown).not.toContain(text);
});
