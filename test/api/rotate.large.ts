import { expect, it } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { createVault } from '../../src/db/sealing/vault.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { testDatabase } from '../setup/database.ts';
import { openedSpec } from '../setup/opened.ts';
import { rowsOf } from '../setup/rows.ts';
import { doc } from './documents.ts';
import { apiOn, asOperator, type TestApi } from './setup.ts';

const channels = '/api/integrations/notifications/channels';
const [old, fresh] = [createVault([new Uint8Array(32).fill(1)]), createVault([new Uint8Array(32).fill(2)])];
const both = createVault([new Uint8Array(32).fill(2), new Uint8Array(32).fill(1)]);

const channel = (secret: string, more: JsonObject = {}): JsonObject => ({
  ...{ type: 'webhook', event_types: ['user.join'], enabled: true },
  target: { url: 'https://x.example.com', headers: { Authorization: secret } },
  ...more,
});

interface Webhook {
  readonly target: { readonly headers: Readonly<Record<string, string>> };
}

/**
 * Runs one client of a server until `isOver`: it reads the channel and sends back the answer. If `writes` is set, it
 * also writes new secrets. Returns the last secret.
 */
async function work(api: TestApi, id: string, first: string, writes: boolean, isOver: () => boolean): Promise<string> {
  let secret = first;
  const ask = async (...request: Parameters<TestApi['call']>) => {
    const answer = await api.call(...request);
    expect([request.slice(0, 2), answer.status, answer.body.message]).toEqual([request.slice(0, 2), 200, undefined]);
    return answer.body;
  };
  for (let round = 0; !isOver(); round++) {
    if (writes) secret = `secret ${id} ${round}`;
    if (writes) await ask('PUT', `${channels}/${id}`, channel(secret));
    const shown = await ask('GET', `${channels}/${id}`);
    expect(shown.target.headers).toEqual({ Authorization: '****' });
    // The client sends back the mask that it was shown, so the stored secret is kept.
    await ask('PUT', `${channels}/${id}`, { ...shown, enabled: round % 2 === 0 });
    await ask('GET', channels);
  }
  return secret;
}

it('a rotation seals all secrets again while servers read and write them, and no old seal returns', async () => {
  await using made = await testDatabase('postgres');
  const server = async (vault: typeof old) => {
    const database = await openDatabase({ url: made.url ?? '' });
    return apiOn(database, () => database.close(), { vault });
  };
  const ids: string[] = [];
  {
    await using before = await server(old);
    for (let at = 0; at < 6; at++) ids.push((await before.call('POST', channels, channel(`first ${at}`))).body.id);
    const edr =
      'client_id: c\ntenant_id: t\ngroups: []\nlast_synced_interval: 24\nsecret: {valueFrom: {envRef: HEDDLE_VALUE_B}}';
    const files = [{ path: 'a.yaml', text: doc('EdrVendorB', 'vendor-b', edr) }];
    const values = { 'env:HEDDLE_VALUE_B': 'of a document' };
    expect((await before.call('POST', '/api/config/apply', { source: 'team', files, values })).status).toBe(200);
  }
  const secrets: string[] = [];
  {
    await using one = await server(both);
    await using two = await server(both);
    for (const api of [one, two]) expect((await api.call('GET', channels)).body).toHaveLength(ids.length);
    let rounds = 0;
    let rotated = false;
    // The clients continue for some rounds after the rotation: old seals that the servers have cached must not be
    // written back.
    const isOver = () => rotated && rounds++ > 60;
    const clients = ids.map((id, at) => work(at % 2 === 0 ? one : two, id, `first ${at}`, at > 2, isOver));
    const rows: number[] = [];
    for (let time = 0; time < 3; time++) {
      const answer = await one.call('POST', '/api/config/secrets/rotate', {}, asOperator);
      expect(answer.status).toBe(200);
      rows.push(answer.body.rows);
    }
    rotated = true;
    secrets.push(...(await Promise.all(clients)));
    expect(rows[0]).toBeGreaterThan(ids.length);
    expect((await rowsOf(one.engine.database)).filter((row) => row.includes(`:${old.keyId}:`))).toEqual([]);
    expect((await two.call('POST', '/api/config/secrets/rotate', {}, asOperator)).body.rows).toBe(0);
    const history = (await two.call('GET', '/api/config/revisions?limit=1000')).body;
    const rotations = history.filter(({ actor }: { actor: JsonObject }) => actor['name'] === 'secrets rotate');
    expect(rotations).toMatchObject([{ counts: { update: 0, sealed: rows[0] } }]);
  }
  await using after = await server(fresh);
  const state = await after.engine.snapshots.current(after.account);
  const kept = ids.map((id) => {
    // The target of a webhook has headers.
    const { target } = openedSpec(after.engine, after.account, state.get(id)) as unknown as Webhook;
    return target.headers['Authorization'];
  });
  expect(kept).toEqual(secrets);
  const [edr] = state.ofKind('EdrVendorB');
  expect(openedSpec(after.engine, after.account, edr)['secret']).toBe('of a document');
  expect(edr?.declared[0]?.stated['secret']).toBe(edr?.spec['secret']);
});
