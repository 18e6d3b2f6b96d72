import { describe, expect, it } from 'vitest';
import { storedObject } from '../../src/commit/bootstrap.ts';
import { findRevision } from '../../src/db/commit/accounts.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { canonicalSpec } from '../../src/model/schema/normalize.ts';
import { putObjects } from '../setup/objects.ts';
import { problemsOf } from './problems.ts';
import { type Ask, tenants, tenantsScene, timestamp } from './tenants-scene.ts';

const { api, create, shown, act, prove, accountOf, signIn, addUser, codesOf, countAccounts } = tenantsScene();

describe('an existing account', () => {
  it('is invited as a tenant, and becomes active when its owner accepts', async () => {
    const { id, owner } = await accountOf('known.example.com');
    const accounts = await countAccounts();
    const made = await create('known.example.com');
    expect(made).toMatchObject({ id, status: 'existing', domain: 'known.example.com' });
    expect(await countAccounts()).toBe(accounts);
    for (const what of ['dns', 'unlink']) {
      const early = await act(id, what, what === 'unlink' ? { owner } : undefined);
      expect([what, early.status]).toEqual([what, 412]);
    }
    const invited = await act(id, 'invite');
    expect([invited.status, invited.body]).toEqual([
      200,
      { ...made, status: 'invited', invited_at: timestamp, updated_at: timestamp },
    ]);
    const before = await api().revision();
    expect((await act(id, 'invite')).body).toEqual(invited.body);
    expect(await api().revision()).toBe(before);
    const inside = await signIn(id, owner);
    const accepted = await inside('PUT', `${tenants}/${id}/invite`, { value: 'accept' });
    expect([accepted.status, accepted.body]).toEqual([200, '']);
    expect(await shown(id)).toMatchObject({ status: 'active', activated_at: timestamp, invited_at: timestamp });
    expect((await inside('PUT', `${tenants}/${id}/invite`, { value: 'accept' })).status).toBe(412);
    expect((await act(id, 'invite')).status).toBe(412);
    expect(await codesOf(id)).toEqual(expect.arrayContaining(['msp.tenant.invite', 'msp.tenant.accept']));
  });

  it('may decline the invitation, and may be invited again', async () => {
    const { id, owner } = await accountOf('shy.example.com');
    await create('shy.example.com');
    const inside = await signIn(id, owner);
    const answer = (value: Json) => inside('PUT', `${tenants}/${id}/invite`, { value });
    expect((await answer('decline')).status).toBe(412);
    await act(id, 'invite');
    expect(problemsOf(await answer('maybe'))).toEqual(['value_not_allowed /value']);
    expect((await answer('decline')).status).toBe(200);
    const declined = await shown(id);
    expect([declined.status, declined.activated_at]).toEqual(['existing', undefined]);
    expect(await codesOf(id)).toEqual(expect.arrayContaining(['msp.tenant.decline']));
    expect((await act(id, 'invite')).body.status).toBe('invited');
  });

  it('accepts an invitation through its owner only', async () => {
    const { id } = await accountOf('guarded.example.com');
    await create('guarded.example.com');
    await act(id, 'invite');
    const admin = await signIn(id, await addUser(id, 'admin', { role: 'admin' }));
    for (const ask of [admin, api().call]) {
      const answer = await ask('PUT', `${tenants}/${id}/invite`, { value: 'accept' });
      expect([answer.status, answer.body.message]).toEqual([403, expect.stringContaining('only the owner')]);
    }
    expect((await act('nobody', 'invite', { value: 'accept' }, 'PUT')).status).toBe(404);
  });

  it('can have only one managing account', async () => {
    const { id } = await accountOf('wanted.example.com');
    await create('wanted.example.com');
    const rival = await accountOf('other-msp.example.com');
    const inside = await signIn(rival.id, rival.owner);
    await inside('POST', tenants, { name: 'Wanted', domain: 'wanted.example.com', groups: [] });
    expect((await inside('POST', `${tenants}/${id}/invite`)).status).toBe(200);
    const late = await act(id, 'invite');
    expect([late.status, late.body.message]).toEqual([
      412,
      expect.stringContaining('is a tenant of another account, or is invited to become one'),
    ]);
  });

  it('cannot be invited while its domain is unproved (412) or when it is unknown (404)', async () => {
    const made = await create('fresh.example.com');
    expect((await act(made.id, 'invite')).status).toBe(412);
    expect((await act('nobody', 'invite')).status).toBe(404);
  });
});

describe('unlinking a tenant', () => {
  it('gives its account to the named person, and removes the link', async () => {
    const made = await create('freed.example.com');
    await prove(made);
    const [owner, service, blocked] = [
      await addUser(made.id, 'ana'),
      await addUser(made.id, 'robot', { is_service_user: true, email: '' }),
      await addUser(made.id, 'eve', { is_blocked: true }),
    ];
    const state = await api().engine.snapshots.fresh(made.id);
    const machine = state.ofKind('User').find(({ spec }) => spec['role'] === 'owner')?.id ?? '';
    for (const other of ['nobody', service, blocked, machine]) {
      const answer = await act(made.id, 'unlink', { owner: other });
      expect([answer.status, problemsOf(answer)]).toEqual([422, ['tenant_owner_invalid /owner']]);
    }
    const gone = await act(made.id, 'unlink', { owner });
    expect([gone.status, gone.body]).toEqual([200, '']);
    expect(await shown(made.id)).toBeUndefined();
    const after = await api().engine.snapshots.fresh(made.id);
    expect([after.get(owner)?.spec['role'], after.get(machine)]).toEqual(['owner', undefined]);
    expect(after.get(made.id)?.derived['msp']).toBeUndefined();
    expect(await codesOf(made.id)).toEqual(['msp.tenant.create', 'msp.tenant.verify', 'msp.tenant.unlink']);
    expect((await act(made.id, 'unlink', { owner })).status).toBe(404);
    expect((await create('freed.example.com')).status).toBe('existing');
  });

  it('requires a person as the new owner', async () => {
    const made = await create('stuck.example.com');
    expect(problemsOf(await act(made.id, 'unlink', {}))).toEqual(['field_required ']);
    expect(problemsOf(await act(made.id, 'unlink', { owner: 7 }))).toEqual(['type_wrong /owner']);
    expect((await act(made.id, 'unlink')).status).toBe(400);
  });

  it('makes the former owner of an invited account an admin', async () => {
    const { id, owner } = await accountOf('handed.example.com');
    await create('handed.example.com');
    await act(id, 'invite');
    await (await signIn(id, owner))('PUT', `${tenants}/${id}/invite`, { value: 'accept' });
    const next = await addUser(id, 'next');
    expect((await act(id, 'unlink', { owner: next })).status).toBe(200);
    const state = await api().engine.snapshots.fresh(id);
    expect([state.get(owner)?.spec['role'], state.get(next)?.spec['role']]).toEqual(['admin', 'owner']);
  });
});

describe('deleting a tenant', () => {
  const remove = (id: string, ask: Ask = (method, url, body) => api().call(method, url, body)) =>
    ask('DELETE', `${tenants}/${id}`);
  const isThere = async (id: string) => (await findRevision(api().engine.database, id)) !== undefined;

  it('deletes its account when the domain is unproved, and is allowed to owners only', async () => {
    const made = await create('given-up.example.com');
    const admin = await signIn(api().account, await addUser(api().account, 'remover', { role: 'admin' }));
    expect((await remove(made.id, admin)).status).toBe(403);
    expect([await isThere(made.id), (await shown(made.id)).status]).toEqual([true, 'pending']);
    const gone = await remove(made.id);
    expect([gone.status, gone.body]).toEqual([200, '']);
    expect([await isThere(made.id), await shown(made.id)]).toEqual([false, undefined]);
    expect((await remove(made.id)).status).toBe(404);
    expect((await create('given-up.example.com')).status).toBe('pending');
  });

  it('keeps an account that existed before, and withdraws the invitation', async () => {
    const { id } = await accountOf('left-alone.example.com');
    await create('left-alone.example.com');
    expect((await remove(id)).status).toBe(200);
    await create('left-alone.example.com');
    await act(id, 'invite');
    expect((await remove(id)).status).toBe(200);
    const state = await api().engine.snapshots.fresh(id);
    expect(state.get(id)?.derived['msp_invite']).toBeUndefined();
    expect(await isThere(id)).toBe(true);
  });

  it('is refused when the tenant is active', async () => {
    const made = await create('running.example.com');
    await prove(made);
    const answer = await remove(made.id);
    expect([answer.status, answer.body.message]).toEqual([412, expect.stringContaining('unlink')]);
  });
});

describe('the link to a tenant', () => {
  it('can be removed by owners only', async () => {
    const made = await create('owned.example.com');
    await prove(made);
    const next = await addUser(made.id, 'heir');
    const admin = await signIn(api().account, await addUser(api().account, 'unlinker', { role: 'admin' }));
    expect((await admin('POST', `${tenants}/${made.id}/unlink`, { owner: next })).status).toBe(403);
    expect((await act(made.id, 'unlink', { owner: next })).status).toBe(200);
  });

  it('makes no user an owner when only one side has it', async () => {
    const { id } = await accountOf('claimed.example.com');
    const heir = await addUser(id, 'heir-of-claimed');
    await create('claimed.example.com');
    // The link exists on one side only, as after restoring a forged archive.
    await putObjects(api().engine, api().account, (state) => {
      const tenant = state.get(id);
      return tenant === undefined ? [] : [{ ...tenant, derived: { ...tenant.derived, status: 'active' } }];
    });
    const answer = await act(id, 'unlink', { owner: heir });
    expect([answer.status, answer.body.message]).toEqual([412, expect.stringContaining('not linked')]);
    expect((await api().engine.snapshots.fresh(id)).get(heir)?.spec['role']).toBe('user');
  });

  it('lets only owners change the claim that fills its group when it grants the owner role', async () => {
    const { engine, account } = api();
    const kind = engine.registry.get('Group');
    const id = engine.newId();
    const { spec } = canonicalSpec(kind, { name: 'masters', peers: [] });
    const masters = storedObject(engine, { id, kind: 'Group', spec, derived: { issued: 'jwt' } }, engine.now());
    await putObjects(engine, account, () => [masters]);
    const made = await create('mastered.example.com');
    const admin = await signIn(account, await addUser(account, 'claimer', { role: 'admin' }));
    const [{ settings }] = (await api().call('GET', '/api/accounts')).body;
    const change = (ask: Ask, more: JsonObject) =>
      ask('PUT', `/api/accounts/${account}`, { settings: { ...settings, ...more } });
    const claim = { jwt_groups_enabled: true, jwt_groups_claim_name: 'department' };
    expect((await change(admin, claim)).status).toBe(200);
    const groups = [{ id, role: 'owner' }];
    expect((await api().call('PUT', `${tenants}/${made.id}`, { name: 'Mastered', groups })).status).toBe(200);
    for (const more of [
      { ...claim, jwt_groups_claim_name: 'nickname' },
      { ...claim, jwt_groups_enabled: false },
    ])
      expect((await change(admin, more)).status).toBe(403);
    expect((await change(admin, { ...claim, peer_login_expiration: 7200 })).status).toBe(200);
    const renamed = await admin('PUT', `/api/groups/${id}`, { name: 'everybody', peers: [] });
    expect(renamed.status).toBe(403);
    expect(
      (await change((...args) => api().call(...args), { ...claim, jwt_groups_claim_name: 'nickname' })).status,
    ).toBe(200);
    await change((...args) => api().call(...args), { jwt_groups_enabled: false, jwt_groups_claim_name: '' });
  });
});

describe('deleting an account', () => {
  it('deletes its tenant accounts with an unproved domain, and withdraws its invitations', async () => {
    const { id, owner } = await accountOf('closing.example.com');
    const invited = await accountOf('was-invited.example.com');
    const inside = await signIn(id, owner);
    const make = async (domain: string) => (await inside('POST', tenants, { name: domain, domain, groups: [] })).body;
    const pending = await make('unproved.example.com');
    await make('was-invited.example.com');
    expect((await inside('POST', `${tenants}/${invited.id}/invite`)).status).toBe(200);
    expect((await inside('DELETE', `/api/accounts/${id}`)).status).toBe(200);
    const { database, snapshots } = api().engine;
    const there = await Promise.all([id, pending.id, invited.id].map((one) => findRevision(database, one)));
    expect(there.map((revision) => revision !== undefined)).toEqual([false, false, true]);
    expect((await snapshots.fresh(invited.id)).get(invited.id)?.derived['msp_invite']).toBeUndefined();
  });
});
