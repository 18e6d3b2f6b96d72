import { expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { startCounterpart } from '../integrations/directory/counterpart.ts';
import { requestsOf } from '../integrations/directory/requests.ts';
import { integrationSpec } from '../integrations/directory/scene.ts';
import { addPeers } from '../setup/peers.ts';
import { testApi } from './setup.ts';

const directories = '/api/integrations/directory-idp';
const host = 'directory.example.com';

/** Starts a server with a machine `db`, and a directory that contains user ana and the empty group `mesh-dev`. */
async function openScene() {
  const counterpart = await startCounterpart();
  const { signIn, api: origin, directory } = counterpart;
  const api = await testApi('postgres', {
    literalSecrets: true,
    requestSync: requestsOf({ [host]: { signIn, api: origin } }),
  });
  onTestFinished(() => api[Symbol.asyncDispose]());
  const { call, engine, account } = api;
  const [db = ''] = await api.peers('db');
  const databases = await api.group('databases', [db]);
  for (const { id } of (await call('GET', '/api/policies')).body) await call('DELETE', `/api/policies/${id}`);
  directory.putUser('ana', { displayName: 'Ana Lima' });
  directory.putGroup('g1', 'mesh-dev');
  const named = async (path: string, name: string) =>
    (await call('GET', path)).body.find((one: JsonObject) => one['name'] === name);
  return {
    ...{ counterpart, directory, api, call },
    ana: () => named('/api/users', 'Ana Lima'),
    group: () => named('/api/groups', 'mesh-dev'),
    sync: async (query = '') => {
      const answer = await call('POST', `${directories}/1/sync${query}`);
      expect(answer.status).toBe(200);
      return answer.body;
    },
    /** Adds a machine of ana, and a policy that lets her group reach the databases. */
    async connect(): Promise<string> {
      const { id: user } = await named('/api/users', 'Ana Lima');
      const [laptop = ''] = await addPeers(engine, account, ['laptop'], {
        user_id: user,
        login_expiration_enabled: true,
      });
      const { id } = await named('/api/groups', 'mesh-dev');
      const rule = { name: 'r', enabled: true, action: 'accept', bidirectional: false, protocol: 'tcp' };
      const rules = [{ ...rule, sources: [id], destinations: [databases] }];
      const made = await call('POST', '/api/policies', { name: 'dev', enabled: true, rules });
      expect([made.status, made.body.message]).toEqual([200, undefined]);
      return laptop;
    },
    reaches: async (peer: string) => (await call('GET', `/api/peers/${peer}/accessible-peers`)).body.map(nameOf),
  };
}

const nameOf = ({ name }: { readonly name: string }) => name;

it('a directory sync creates users and groups that gain access by policies, and revokes access of disabled users', async () => {
  const { counterpart, directory, call, ana, group, sync, connect, reaches } = await openScene();
  expect((await call('POST', directories, integrationSpec(counterpart))).status).toBe(200);
  const preview = await sync('?dry_run=true');
  expect([preview.result, preview.plan.counts.create]).toEqual([
    '1 user and 1 group were read: 2 created, 0 changed, 0 deleted',
    2,
  ]);
  expect(await ana()).toBeUndefined();
  expect(await sync()).toEqual({ result: preview.result });
  expect(await ana()).toMatchObject({ issued: 'integration', email: 'ana@corp.example.com', is_blocked: false });
  expect(await group()).toMatchObject({ issued: 'integration', peers_count: 0 });
  const laptop = await connect();
  expect(await reaches(laptop)).toEqual([]);
  directory.join('g1', 'ana');
  await sync();
  expect((await ana()).auto_groups).toEqual([(await group()).id]);
  expect(await reaches(laptop)).toEqual(['Peer db']);
  directory.putUser('ana', { accountEnabled: false });
  expect((await sync()).result).toMatch(/1 user kept out$/);
  expect(await ana()).toMatchObject({ is_blocked: true, status: 'blocked' });
  expect((await call('GET', `/api/peers/${laptop}`)).body).toMatchObject({ login_expired: true });
  const integration = (await call('GET', `${directories}/1`)).body;
  expect(Date.parse(integration.last_synced_at)).toBeGreaterThan(Date.now() - 60_000);
  const logs = (await call('GET', `${directories}/1/logs`)).body;
  expect(logs[0].message).toMatch(/^revision \d+: 0 created, 2 changed, 0 deleted, 1 user kept out$/);
  expect(logs.map(({ id }: JsonObject) => id)).toEqual(logs.map((_: JsonObject, at: number) => logs.length - at));
  const events = (await call('GET', '/api/events/audit')).body;
  expect(events.find((event: JsonObject) => event['activity_code'] === 'user.block')).toMatchObject({
    initiator_name: expect.stringContaining('directory integration'),
  });
  expect(counterpart.faults).toEqual([]);
});

it('a directory sync works the same for an integration declared in a document', async () => {
  const { counterpart, directory, call, ana, group, sync, connect, reaches } = await openScene();
  const spec = integrationSpec(counterpart, { group_prefixes: ['mesh-'] });
  const document = { apiVersion: 'heddle.dev/v1', kind: 'DirectoryIntegration', metadata: { name: 'company' } };
  const files = [{ path: 'a.yaml', text: JSON.stringify({ ...document, spec }) }];
  const applied = await call('POST', '/api/config/apply', { source: 'team', files });
  expect([applied.status, applied.body.message]).toEqual([200, undefined]);
  directory.join('g1', 'ana');
  directory.putGroup('g2', 'other', ['ana']);
  await sync();
  expect((await ana()).auto_groups).toEqual([(await group()).id]);
  const laptop = await connect();
  directory.leave('g1', 'ana');
  await sync();
  expect(await reaches(laptop)).toEqual([]);
  directory.join('g1', 'ana');
  await sync();
  expect(await reaches(laptop)).toEqual(['Peer db']);
  // Applying the documents again changes nothing that the directory sync wrote.
  const again = await call('POST', '/api/config/apply', { source: 'team', files });
  expect(again.body.plan.counts).toMatchObject({ create: 0, update: 0, delete: 0 });
  expect(await reaches(laptop)).toEqual(['Peer db']);
});

it('a disabled directory integration syncs nothing, but allows a dry run', async () => {
  const { counterpart, call, ana, sync } = await openScene();
  await call('POST', directories, integrationSpec(counterpart));
  await call('PUT', `${directories}/1`, { enabled: false });
  expect(await sync()).toEqual({ result: 'the integration is disabled: nothing was synced' });
  expect((await sync('?dry_run=true')).plan.counts.create).toBe(2);
  expect(await ana()).toBeUndefined();
});
