import { describe, expect, it, onTestFinished } from 'vitest';
import type { Json, JsonObject } from '../../../src/lib/json.ts';
import { callAs } from '../../api/people.ts';
import { type TestApi, testApi } from '../../api/setup.ts';
import { newMachine, setupKey } from '../../peers/machine.ts';
import { scimClient } from './client.ts';
import { integrate, providerOf } from './scene.ts';

const settings = { prefix: 'staff', provider: 'entra', group_prefixes: ['mesh-'] };

/** A document: its kind, key and spec. */
type Declared = readonly [kind: string, key: string, spec: JsonObject];

/** Returns the body of a request that applies these documents. */
function files(documents: readonly Declared[]): Json {
  const items = documents.map(([kind, name, spec]) => ({
    ...{ apiVersion: 'heddle.dev/v1', kind, metadata: { name }, spec },
  }));
  const text = JSON.stringify({ apiVersion: 'heddle.dev/v1', kind: 'List', items });
  return { source: 'git', prune: false, files: [{ path: 'all.json', text }] };
}

async function apply(api: TestApi, ...documents: readonly Declared[]) {
  const { status, body } = await api.call('POST', '/api/config/apply', files(documents));
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}

describe.each([
  [
    'documents',
    async (api: TestApi) => {
      const { outputs } = await apply(api, ['ScimIntegration', 'staff', settings]);
      const [{ value }] = outputs;
      return { integration: '1', ...providerOf(scimClient(api.app, value)) };
    },
  ],
  ['the API', (api: TestApi) => integrate(api, settings)],
] as const)('a SCIM integration configured by %s', (_, configure) => {
  it('imports users and groups that control access, and logs what it did', async () => {
    const api = await testApi();
    onTestFinished(() => api[Symbol.asyncDispose]());
    const { scim, addUser, addGroup, change, integration } = await configure(api);
    const [ana, ben] = [await addUser('ana@example.com'), await addUser('ben@example.com')];
    const group = await addGroup('mesh-developers', [ana, ben]);
    for (const { id } of (await api.call('GET', '/api/policies')).body) await api.call('DELETE', `/api/policies/${id}`);
    await apply(
      api,
      ['Group', 'servers', {}],
      [
        'Policy',
        'ssh',
        {
          rules: [
            {
              name: 'ssh',
              action: 'accept',
              protocol: 'tcp',
              ports: ['22'],
              sources: ['name:mesh-developers'],
              destinations: ['servers'],
            },
          ],
        },
      ],
    );
    const [servers] = (await api.call('GET', '/api/groups?name=servers')).body;
    const { key } = await setupKey(api, { auto_groups: [servers.id] });
    const server = (await newMachine(api).enrol({ setup_key: key ?? '', hostname: 'db' })).body.peer.id;
    const laptop = (await newMachine({ call: await callAs(api, ana) }).enrol({ hostname: 'laptop' }, {})).body.peer.id;
    const reachable = async () =>
      (await api.call('GET', `/api/peers/${laptop}/accessible-peers`)).body.map(({ id }: { id: string }) => id);
    expect(await reachable()).toEqual([server]);

    expect((await change(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${ana}"]` })).status).toBe(204);
    expect(await reachable()).toEqual([]);
    expect((await change(`/Groups/${group}`, { op: 'add', path: 'members', value: [{ value: ana }] })).status).toBe(
      204,
    );
    expect(await reachable()).toEqual([server]);
    expect((await change(`/Users/${ana}`, { op: 'replace', path: 'active', value: false })).status).toBe(200);
    const users = (await api.call('GET', '/api/users')).body;
    expect(users.find(({ id }: { id: string }) => id === ana)).toMatchObject({
      is_blocked: true,
      issued: 'integration',
    });
    expect((await (await callAs(api, ana))('GET', '/api/peers')).status).toBe(403);
    expect((await api.call('GET', `/api/peers/${laptop}`)).body).toMatchObject({ login_expired: true });

    // A group that a policy refers to is kept, without users.
    expect((await scim('DELETE', `/Groups/${group}`)).status).toBe(204);
    const path = `/api/integrations/scim-idp/${integration}`;
    const logs = async () =>
      (await api.call('GET', `${path}/logs`)).body.map(
        ({ level, message }: { level: string; message: string }) => `${level} ${message}`,
      );
    await expect
      .poll(logs)
      .toContainEqual(
        expect.stringMatching(
          /^warning the identity provider no longer has the group mesh-developers; it has no users now, and stays because it is used by Policy ssh$/,
        ),
      );
    expect(await logs()).toContainEqual(expect.stringMatching(/^info revision \d+: 1 created, 0 changed, 0 deleted$/));
    expect(Date.parse((await api.call('GET', path)).body.last_synced_at)).toBeGreaterThan(Date.parse('2020-01-01'));
    const events: readonly JsonObject[] = (await api.call('GET', '/api/events/audit')).body;
    const codes = events
      .filter(({ initiator_name: name }) => name === 'SCIM integration staff')
      .map(({ activity_code: code }) => code);
    expect(codes).toEqual(expect.arrayContaining(['group.add', 'user.block', 'user.group.add']));
  });
});

describe('data that a SCIM provider cannot change', () => {
  it('includes fields managed by a document: the answer is 409 with the source and file', async () => {
    const api = await testApi();
    onTestFinished(() => api[Symbol.asyncDispose]());
    const { scim, addUser, change } = await integrate(api);
    await apply(api, ['User', 'ana', { name: 'Ana Lima', email: 'ana@example.com', role: 'admin' }]);
    const id = await addUser('ana@example.com', { displayName: 'Ana Lima' });
    const answer = await change(`/Users/${id}`, { op: 'replace', path: 'displayName', value: 'Anna' });
    expect([answer.status, answer.body.detail]).toEqual([
      409,
      expect.stringMatching(/name is managed by the source git \(all.json/),
    ]);
    expect((await scim('GET', `/Users/${id}`)).body.displayName).toBe('Ana Lima');
    const logs = async () => (await api.call('GET', '/api/integrations/scim-idp/1/logs')).body;
    await expect
      .poll(logs)
      .toContainEqual(
        expect.objectContaining({ level: 'warning', message: expect.stringMatching(/^refused: .*name is managed by/) }),
      );
    expect((await change(`/Users/${id}`, { op: 'add', path: 'externalId', value: 'x1' })).status).toBe(200);
  });

  it('includes the owner of the account', async () => {
    const api = await testApi();
    onTestFinished(() => api[Symbol.asyncDispose]());
    const { scim } = await integrate(api);
    const [owner] = (await api.call('GET', '/api/users')).body.filter(({ role }: { role: string }) => role === 'owner');
    await api.call('PUT', `/api/users/${owner.id}`, { role: 'owner', auto_groups: [], is_blocked: false });
    expect((await scim('DELETE', `/Users/${owner.id}`)).status).toBe(404);
  });
});
