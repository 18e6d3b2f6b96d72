import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Call } from '../api/setup.ts';
import { device, startVendorA, tokenA } from '../integrations/endpoint-security/products.ts';
import { newMachine, setupKey } from '../peers/machine.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { type ServedHeddle, serveHeddle } from '../setup/heddle.ts';
import { startPostgres } from '../setup/server.ts';
import { openReplicas, token } from './replicas.ts';

const documents = (url: string) => `apiVersion: heddle.dev/v1
kind: Group
metadata: { name: laptops }
spec: { name: Laptops }
---
apiVersion: heddle.dev/v1
kind: EdrVendorA
metadata: { name: laptops }
spec:
  api_url: ${url}
  api_token: { valueFrom: { envRef: HEDDLE_VALUE_EDR_TOKEN } }
  groups: [laptops]
  last_synced_interval: 24
  match_attributes: { firewall_enabled: true }
`;

/** Starts an endpoint security product, and writes documents with an integration that reads it. */
async function openScene() {
  const product = await startVendorA();
  const directory = join(await temporaryDirectory(), 'team');
  await mkdir(directory);
  await writeFile(join(directory, 'laptops.yaml'), documents(product.url));
  const env = { HEDDLE_OUTBOUND_ALLOW: '127.0.0.1', HEDDLE_VALUE_EDR_TOKEN: tokenA, HEDDLE_LEASE: '3s' };
  return { product, env, flags: ['--source', directory] };
}

/**
 * Returns a function that sends requests to a server, as the owner unless the headers contain another authorization.
 */
function callOf(server: ServedHeddle): Call {
  return async (method, path, body, headers = {}) => {
    const own = { authorization: `Token ${token}`, 'content-type': 'application/json', ...headers };
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await fetch(server.url + path, {
      method,
      headers: Object.fromEntries(Object.entries(own).filter(([, value]) => value !== '')),
      ...(body === undefined ? {} : { body: text }),
    });
    const said = await answer.text();
    return { status: answer.status, headers: {}, body: said === '' ? undefined : JSON.parse(said) };
  };
}

/** Enrols machines into the group of the integration. Returns the ids of their peers. */
async function enrol(call: Call, ...names: readonly string[]): Promise<readonly string[]> {
  const groups: readonly { readonly id: string; readonly name: string }[] = (await call('GET', '/api/groups')).body;
  const group = groups.find(({ name }) => name === 'Laptops')?.id ?? '';
  const key = String((await setupKey({ call }, { auto_groups: [group] }))['key']);
  const ids: string[] = [];
  for (const hostname of names) {
    const facts = { serial_number: `SN-${hostname}` };
    ids.push((await newMachine({ call }).enrol({ setup_key: key, hostname, facts })).body.peer.id);
  }
  return ids;
}

const status = async (server: ServedHeddle) => (await callOf(server)('GET', '/api/config/endpoint-security')).body[0];
const reason = async (server: ServedHeddle, peer = '') =>
  (await callOf(server)('GET', `/api/peers/${peer}`)).body.disapproval_reason;

const why = 'vendor A: the firewall is off';

test('after kill -9 during a sync, another server reads all devices again and reaches the same verdicts', async () => {
  const { product, env, flags } = await openScene();
  product.devices = [device('ana'), device('ben', { firewallEnabled: false }), ...manyDevices()];
  const replicas = await openReplicas(flags, env);
  onTestFinished(() => replicas[Symbol.asyncDispose]());
  const begun = new Promise<void>((resolve) => {
    // The second page never arrives.
    product.next(
      () => undefined,
      () => {
        resolve();
        return 'never';
      },
    );
  });
  const first = await replicas.start();
  await begun;
  const second = await replicas.start();
  const [ana, ben] = await enrol(callOf(second), 'ana', 'ben');
  expect(await status(second)).toMatchObject({ state: 'waiting', deciding: false });
  await first.stop('SIGKILL');
  await expect.poll(() => status(second)).toMatchObject({ state: 'synced', devices: 1502 });
  await expect.poll(() => reason(second, ben)).toBe(why);
  expect(await reason(second, ana)).toBeUndefined();
  // Servers never sync at the same time: after a third server gets a request for a sync, each page is read once.
  const third = await replicas.start();
  const before = product.requests.length;
  const { lastSyncedAt } = await status(third);
  expect((await callOf(third)('POST', '/api/config/endpoint-security/vendor-a/sync')).status).toBe(200);
  await expect.poll(async () => (await status(third)).lastSyncedAt).not.toBe(lastSyncedAt);
  expect(product.requests.slice(before).filter(({ url }) => url.searchParams.has('limit')).length).toBe(4);
  expect(product.faults).toEqual([]);
  const explained = await callOf(third)('GET', '/api/config/access?from=ana&to=ben&protocol=tcp&port=22');
  expect(explained.body.message).toContain(why);
  expect([...first.lines, ...second.lines, ...third.lines].join('\n')).not.toContain(tokenA);
});

test('a stop of Postgres during a sync loses no verdict, and the sync is repeated', async () => {
  const { product, env, flags } = await openScene();
  product.devices = [device('ana'), device('ben', { firewallEnabled: false }), ...manyDevices()];
  const postgres = await startPostgres();
  onTestFinished(() => postgres[Symbol.asyncDispose]());
  const settings = { ...env, HEDDLE_BOOTSTRAP_TOKEN: token, HEDDLE_SECRET_KEY: Buffer.alloc(32, 5).toString('base64') };
  const args = ['--database-url', postgres.url('postgres'), '--data-dir', await temporaryDirectory(), ...flags];
  await using server = await serveHeddle(args, { env: settings });
  await expect.poll(() => status(server)).toMatchObject({ state: 'synced', devices: 1502 });
  const [ana, ben] = await enrol(callOf(server), 'ana', 'ben');
  await expect.poll(() => reason(server, ben)).toBe(why);
  const { lastSyncedAt } = await status(server);
  product.devices = [device('ana', { firewallEnabled: false }), device('ben'), ...manyDevices()];
  const stopping = Promise.withResolvers<void>();
  product.next(
    () => undefined,
    () => {
      postgres.stop('kill').then(stopping.resolve, stopping.reject);
      return undefined;
    },
  );
  expect((await callOf(server)('POST', '/api/config/endpoint-security/vendor-a/sync')).status).toBe(200);
  await stopping.promise;
  await postgres.start();
  await expect
    .poll(async () => (await status(server).catch(() => undefined))?.lastSyncedAt ?? lastSyncedAt)
    .not.toBe(lastSyncedAt);
  expect([await reason(server, ana), await reason(server, ben)]).toEqual([why, undefined]);
  expect(product.faults).toEqual([]);
});

function manyDevices() {
  return Array.from({ length: 1500 }, (_, at) => device(`other-${at}`));
}
