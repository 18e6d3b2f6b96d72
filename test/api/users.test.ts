import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { insertToken } from '../../src/db/accounts/tokens.ts';
import { queryBuilder } from '../../src/db/builder.ts';
import { hashToken } from '../../src/features/auth/authenticate.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { makeToken } from '../../src/lib/token.ts';
import { modules } from '../../src/model/declare/roles.ts';
import { putObjects } from '../setup/objects.ts';
import { problemsOf } from './problems.ts';
import { type Call, sharedApi, type TestApi, testApi } from './setup.ts';

const api = sharedApi();
const users = '/api/users';
const program: JsonObject = { name: 'CI', role: 'user', auto_groups: [], is_service_user: true };
let people = 0;
const person = (change: JsonObject = {}): JsonObject => {
  people += 1;
  const email = `person${people}@example.com`;
  return { name: 'Ana', email, role: 'user', auto_groups: [], is_service_user: false, ...change };
};
const post = (body: JsonObject, own = api()) => own.call('POST', users, body);
const put = (id: string, change: JsonObject, own = api()) =>
  own.call('PUT', `${users}/${id}`, { role: 'user', auto_groups: [], is_blocked: false, ...change });
const ownerOf = async (own: TestApi): Promise<JsonObject> => (await own.call('GET', `${users}/current`)).body;

/** Returns a function that sends requests with a new token of this user. */
async function callAs(own: TestApi, user: string): Promise<Call> {
  const value = makeToken('nbp_', randomBytes(32));
  await insertToken(own.engine.database, {
    ...{ account: own.account, id: own.engine.newId(), user, name: 'test', hash: hashToken(value), createdBy: user },
    ...{ createdAt: '2026-01-01T00:00:00Z', expiresAt: '2126-01-01T00:00:00Z' },
  });
  return (method, url, body) => own.call(method, url, body, { authorization: `Token ${value}` });
}

const never = '0001-01-01T00:00:00Z';

describe('users', () => {
  it('are created, listed, replaced and deleted', async () => {
    await using own = await testApi();
    const group = await own.group('developers');
    const made = await post(person({ email: 'ana@example.com', role: 'ADMIN', auto_groups: [group] }), own);
    const { id } = made.body;
    const shown = {
      id,
      email: 'ana@example.com',
      name: 'Ana',
      role: 'admin',
      status: 'invited',
      last_login: never,
      auto_groups: [group],
      is_current: false,
      is_service_user: false,
      is_blocked: false,
      pending_approval: false,
      issued: 'api',
    };
    expect([made.status, made.body]).toEqual([200, { ...shown, password: expect.stringMatching(/^[A-Za-z2-9]{16}$/) }]);
    const machine = await post(program, own);
    expect(machine.body).toEqual({
      ...shown,
      ...{ id: machine.body.id, email: '', name: 'CI', role: 'user', status: 'active' },
      ...{ auto_groups: [], is_service_user: true },
    });
    const listed = async (query: string): Promise<readonly Json[]> =>
      (await own.call('GET', `${users}${query}`)).body.map(({ name }: { name: string }) => name).sort();
    expect(await listed('')).toEqual(['Ana', 'CI', 'machine owner']);
    expect(await listed('?service_user=true')).toEqual(['CI']);
    expect(await listed('?service_user=0')).toEqual(['Ana', 'machine owner']);
    const blocked = await put(id, { role: 'auditor', is_blocked: true }, own);
    expect(blocked.body).toEqual({ ...shown, role: 'auditor', auto_groups: [], is_blocked: true, status: 'blocked' });
    const gone = await own.call('DELETE', `${users}/${id}`);
    expect([gone.status, gone.body]).toEqual([200, '']);
    for (const answer of [await own.call('DELETE', `${users}/${id}`), await put(id, {}, own)])
      expect([answer.status, answer.body.message]).toEqual([404, `user ${id} not found`]);
  });

  it('cannot be read one by one (405)', async () => {
    const { id } = (await post(program)).body;
    expect((await api().call('GET', `${users}/${id}`)).status).toBe(405);
  });

  it('cannot be filtered by a `service_user` that is not a boolean', async () => {
    const answer = await api().call('GET', `${users}?service_user=maybe`);
    expect([answer.status, problemsOf(answer)]).toEqual([422, ['filter_invalid /service_user']]);
  });

  it.each(['role', 'auto_groups', 'is_service_user'])('require %s', async (name) => {
    const body = Object.fromEntries(Object.entries(person()).filter(([member]) => member !== name));
    expect((await post(body)).body.message).toBe(`\`${name}\` is required; add it`);
  });

  it.each(['role', 'auto_groups', 'is_blocked'])('require %s when replaced', async (name) => {
    const { id } = (await post(program)).body;
    const whole: JsonObject = { role: 'user', auto_groups: [], is_blocked: false };
    const body = Object.fromEntries(Object.entries(whole).filter(([member]) => member !== name));
    expect((await api().call('PUT', `${users}/${id}`, body)).status).toBe(422);
  });

  it.each<readonly [JsonObject, readonly string[]]>([
    [{ role: 'king' }, ['value_not_allowed /role']],
    [{ role: 'owner' }, ['user_role_owner /role']],
    [{ email: 'nobody' }, ['email_invalid /email']],
    [{ email: '' }, ['user_email_missing /email']],
    [{ is_service_user: true }, ['user_email_unused /email']],
    [{ auto_groups: ['nobody'] }, ['reference_unknown /auto_groups/0']],
  ])('with %j are refused', async (change, problems) => {
    const answer = await post(person(change));
    expect([answer.status, problemsOf(answer)]).toEqual([422, problems]);
  });

  it('cannot be assigned the group All', async () => {
    const [all] = (await api().call('GET', '/api/groups?name=All')).body;
    expect((await post({ ...program, auto_groups: [all.id] })).status).toBe(422);
  });

  it('have a unique e-mail address, whatever its case', async () => {
    await post(person({ email: 'unique@example.com' }));
    const again = await post(person({ email: 'Unique@Example.com' }));
    expect([again.status, again.body.message]).toEqual([409, expect.stringContaining('already exists')]);
  });

  it('write nothing when they are put back unchanged', async () => {
    const { body: made } = await post(person());
    const { password: _, ...body } = made;
    const before = await api().revision();
    const same = await api().call('PUT', `${users}/${body.id}`, made);
    expect([same.status, same.body, same.headers['heddle-ignored']]).toEqual([200, body, undefined]);
    expect(await api().revision()).toBe(before);
  });

  it('keep their groups from being deleted', async () => {
    const group = await api().group('of a user');
    await post({ ...program, auto_groups: [group] });
    const refused = await api().call('DELETE', `/api/groups/${group}`);
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('linked to user: CI')]);
  });

  it('are deleted together with their tokens', async () => {
    await using own = await testApi();
    const { id } = (await post(program, own)).body;
    const call = await callAs(own, id);
    expect((await call('GET', `${users}/current`)).status).toBe(200);
    await own.call('DELETE', `${users}/${id}`);
    expect((await call('GET', `${users}/current`)).status).toBe(401);
    const tokens = queryBuilder.selectFrom('tokens').select('user_id').where('account_id', '=', own.account);
    const [rows] = await own.engine.database.inAccount(own.account, [tokens.compile()]);
    expect(rows.map(({ user_id }) => user_id)).toEqual([(await ownerOf(own))['id']]);
  });
});

describe('the current user', () => {
  it('is returned with all permissions when it is the owner', async () => {
    await using own = await testApi();
    const { status, body } = await own.call('GET', `${users}/current`);
    const all = { read: true, create: true, update: true, delete: true };
    const rights = Object.fromEntries(modules.map((module) => [module, all]));
    expect([status, body.permissions]).toEqual([200, { is_restricted: false, modules: rights }]);
    expect(body).toMatchObject({ name: 'machine owner', role: 'owner', is_current: true, status: 'active' });
    const [listed] = (await own.call('GET', users)).body;
    expect(listed).toEqual(Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'permissions')));
  });

  it('may be a service user, with permissions that are marked as restricted', async () => {
    await using own = await testApi();
    const { id } = (await post(program, own)).body;
    const call = await callAs(own, id);
    const { body } = await call('GET', `${users}/current`);
    expect(body).toMatchObject({ id, is_current: true, is_service_user: true, permissions: { is_restricted: true } });
    const seen = (await call('GET', users)).body.filter(({ is_current }: { is_current: boolean }) => is_current);
    expect(seen.map((user: { id: string }) => user.id)).toEqual([id]);
  });

  it('has permissions for the module of every kind', () => {
    const known: readonly string[] = modules;
    expect(api().engine.registry.kinds.filter(({ module }) => !known.includes(module))).toEqual([]);
  });
});

describe('ownership of an account', () => {
  it('is transferred by the owner, who becomes an admin', async () => {
    await using own = await testApi();
    const { id } = (await post(person(), own)).body;
    const owner = await ownerOf(own);
    const given = await put(id, { role: 'owner' }, own);
    expect([given.status, given.body.role]).toEqual([200, 'owner']);
    expect(await ownerOf(own)).toMatchObject({ id: owner['id'], role: 'admin' });
    const back = await put(String(owner['id']), { role: 'owner' }, own);
    expect([back.status, back.body.problems[0].path]).toEqual([403, '/role']);
    const demote = await put(id, { role: 'admin' }, own);
    expect(demote.status).toBe(403);
    const newOwner = await callAs(own, id);
    expect((await newOwner('DELETE', `${users}/${owner['id']}`)).status).toBe(200);
  });

  it('is kept: owners cannot be blocked or deleted, and cannot give up their own role', async () => {
    const id = String((await ownerOf(api()))['id']);
    expect((await put(id, { role: 'admin' })).status).toBe(403);
    expect((await put(id, { role: 'owner', is_blocked: true })).status).toBe(403);
    const self = await api().call('DELETE', `${users}/${id}`);
    expect([self.status, problemsOf(self)]).toEqual([422, ['user_is_caller ']]);
  });

  it('cannot be taken over by inviting an owner again who has not signed in yet', async () => {
    await using own = await testApi();
    const { id } = (await post(person(), own)).body;
    expect((await own.call('POST', `${users}/${id}/invite`)).status).toBe(200);
    expect((await put(id, { role: 'owner' }, own)).status).toBe(200);
    // The user who gave up the ownership is now an admin, and would receive the invite link in the answer.
    const again = await own.call('POST', `${users}/${id}/invite`);
    expect([again.status, again.headers['heddle-invite-link']]).toEqual([403, undefined]);
  });

  it('cannot be given to a service user', async () => {
    const { id } = (await post(program)).body;
    expect((await put(id, { role: 'owner' })).status).toBe(403);
  });
});

describe('peers of a user', () => {
  async function peersOf(own: TestApi, user: string): Promise<readonly string[]> {
    const ids = await own.peers('laptop', 'phone');
    await putObjects(own.engine, own.account, (state) =>
      ids.flatMap((id) => {
        const peer = state.get(id);
        return peer === undefined ? [] : [{ ...peer, spec: { ...peer.spec, user_id: user } }];
      }),
    );
    return ids;
  }

  it('are signed out when the user is blocked, join its new groups, and are deleted with it', async () => {
    await using own = await testApi();
    const { id } = (await post(person(), own)).body;
    const [laptop = ''] = await peersOf(own, id);
    const group = await own.group('developers');
    await put(id, { auto_groups: [group] }, own);
    expect((await own.call('GET', `/api/groups/${group}`)).body.peers_count).toBe(2);
    await put(id, { auto_groups: [] }, own);
    expect((await own.call('GET', `/api/groups/${group}`)).body.peers_count).toBe(0);
    await put(id, { auto_groups: [group], is_blocked: true }, own);
    expect((await own.call('GET', `/api/peers/${laptop}`)).body).toMatchObject({ user_id: id, login_expired: true });
    expect((await own.call('DELETE', `${users}/${id}`)).status).toBe(200);
    expect((await own.call('GET', '/api/peers')).body).toEqual([]);
    expect((await own.call('GET', `/api/groups/${group}`)).body.peers).toEqual([]);
  });
});

describe('documents of users', () => {
  const text = `
apiVersion: heddle.dev/v1
kind: User
metadata: {name: ci}
spec: {role: network_admin, is_service_user: true}
---
apiVersion: heddle.dev/v1
kind: User
metadata: {name: ana}
spec: {name: Ana Lima, email: ana@example.com, role: admin}
`;
  const source = (documents: string) => ({ source: 'git', files: [{ path: 'users.yaml', text: documents }] });

  it('create service users, invite people, and assign roles', async () => {
    await using own = await testApi();
    expect((await own.call('POST', '/api/config/apply', source(text))).status).toBe(200);
    const shown = (await own.call('GET', users)).body.filter(({ role }: { role: string }) => role !== 'owner');
    expect(shown).toMatchObject([
      { name: 'Ana Lima', email: 'ana@example.com', role: 'admin', status: 'invited' },
      { name: 'ci', role: 'network_admin', status: 'active' },
    ]);
    const again = await own.call('POST', '/api/config/apply', source(text));
    expect(again.body.revision).toBeNull();
    const other = await own.call('POST', '/api/config/apply', source(text.replace('Ana Lima', 'Ana')));
    expect(problemsOf(other)).toEqual(['field_fixed /spec/name']);
    const owner = await own.call('POST', '/api/config/apply', source(text.replace('admin}', 'owner}')));
    expect([owner.status, owner.body.message]).toEqual([200, undefined]);
  });

  it('leave the machine owner out of an export', async () => {
    await using own = await testApi();
    await post(program, own);
    const exported = JSON.stringify((await own.call('GET', '/api/config/export?kind=User')).body);
    expect(exported).toContain('CI');
    expect(exported).not.toContain('machine owner');
  });
});
