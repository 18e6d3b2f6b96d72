import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { idpScene } from '../auth/idp-scene.ts';
import { openSurfer } from '../auth/surfer.ts';

// Without a mail server, the caller who creates a user receives a one-time password for the user's first sign-in. The
// caller may sign in with it, choose another password, and delete the user: the password is kept for the address.

const scene = idpScene();
const refusal = [403, 'Problem: This password is no longer valid – Heddle'];
let count = 0;
let owner = '';
let admin = '';
let owners = '';
let others = '';

async function call(authorization: string, method: string, path: string, body?: JsonObject) {
  const answer = await scene().call(method, path, body, authorization);
  expect([path, answer.status]).toEqual([path, 200]);
  const text = await answer.text();
  return JSON.parse(text === '' ? '{}' : text) as Readonly<Record<'id' | 'password' | 'plain_token', string>>;
}

async function createUser(by: string, change: JsonObject = {}) {
  const email = `new-${++count}@example.com`;
  const body = { email, name: 'new', role: 'user', auto_groups: [], is_service_user: false, ...change };
  return { email, ...(await call(by, 'POST', '/api/users', body)) };
}

const update = (id: string, change: JsonObject) =>
  call(owner, 'PUT', `/api/users/${id}`, { role: 'user', auto_groups: [], is_blocked: false, ...change });

const own = { step: 'new-password', password: 'my very own', repeated: 'my very own' };

/** An admin creates a user, signs in as the user, chooses a password, and deletes the user. */
async function keepPassword(change: JsonObject = {}) {
  const user = await createUser(admin, change);
  const { surfer } = await signIn(user);
  expect((await surfer.send(own)).status).toBe(200);
  const revision = await newestRevision();
  await call(admin, 'DELETE', `/api/users/${user.id}`);
  return { id: user.id, email: user.email, password: own.password, revision, surfer };
}

async function newestRevision(): Promise<number> {
  const [row] = await scene().sql<{ readonly revision: number }>(
    'select max(revision)::int as revision from revisions',
  );
  return row?.revision ?? 0;
}

async function rollBack(revision: number) {
  const plan = await scene().call('POST', `/api/config/revisions/${revision}/rollback`, { scope: 'all' }, owner);
  const { id } = (await plan.json()) as { readonly id: string };
  await call(owner, 'POST', `/api/config/plans/${id}/apply`, {});
}

/** Sends the user an invitation, and accepts it with this password. */
async function invite(id: string, password: string): Promise<void> {
  const invited = await scene().call('POST', `/api/users/${id}/invite`, undefined, owner);
  const token = invited.headers.get('heddle-invite-link')?.split('/').at(-1);
  await call('', 'POST', `/api/users/invites/${token}/accept`, { password });
}

async function signIn({ email, password }: { readonly email: string; readonly password: string }) {
  const surfer = openSurfer(scene().url);
  await surfer.go('/signin/account');
  return { surfer, shown: await surfer.send({ step: 'password', email, password }) };
}

beforeAll(async () => {
  owner = `Token ${scene().owner}`;
  const body = { name: 'automation', role: 'admin', auto_groups: [], is_service_user: true };
  const { id } = await call(owner, 'POST', '/api/users', body);
  const token = await call(owner, 'POST', `/api/users/${id}/tokens`, { name: 'token', expires_in: 1 });
  admin = `Token ${token.plain_token}`;
  others = (await call(owner, 'POST', '/api/groups', { name: 'others' })).id;
  owners = (await call(owner, 'POST', '/api/groups', { name: 'owners' })).id;
  const groups = [{ id: owners, role: 'owner' }];
  await call(owner, 'POST', '/api/integrations/msp/tenants', { name: 'acme', domain: 'acme.example.com', groups });
});

describe('the password that was kept for the address of a deleted user', () => {
  it('is replaced when an owner creates the user again as an owner of a tenant', async () => {
    const kept = await keepPassword();
    const user = await createUser(owner, { email: kept.email, auto_groups: [owners] });
    expect((await signIn(kept)).shown.status).toBe(422);
    expect((await signIn(user)).shown.title).toBe('Choose a password – Heddle');
  });

  it('is not valid when the user was created again, nor after the user became an owner of a tenant', async () => {
    const kept = await keepPassword();
    const user = await createUser(owner, { email: kept.email });
    expect((await signIn(kept)).shown.status).toBe(422);
    await update(user.id, { auto_groups: [owners] });
    expect((await signIn(kept)).shown.status).toBe(422);
    expect((await signIn(user)).shown.title).toBe('Choose a password – Heddle');
  });

  it('is not valid before the user who was created again and invited accepts the invitation', async () => {
    const kept = await keepPassword();
    const { id } = await createUser(owner, { email: kept.email });
    expect((await signIn(kept)).shown.status).toBe(422);
    const mine = { email: kept.email, password: 'the password of the person' };
    await invite(id, mine.password);
    expect((await signIn(kept)).shown.status).toBe(422);
    expect((await signIn(mine)).shown.title).not.toBe('Choose a password – Heddle');
  });

  it('is kept for a user who proved the address', async () => {
    const { id, ...user } = await createUser(admin);
    await (await signIn(user)).surfer.send(own);
    await scene().sql('update credentials set proved_user = user_id where user_id = $1 returning 1', [id]);
    await call(admin, 'DELETE', `/api/users/${id}`);
    const again = await createUser(admin, { email: user.email });
    expect(again.password).toBeUndefined();
    expect((await signIn({ email: user.email, password: own.password })).shown.status).toBe(200);
  });
});

describe('a deleted user whom a rollback restores', () => {
  it('has neither the former password nor the former sessions, and can be invited', async () => {
    const kept = await keepPassword({ auto_groups: [others] });
    const groups = [{ id: others, role: 'owner' }];
    await call(owner, 'POST', '/api/integrations/msp/tenants', { name: 'b', domain: 'b.example.com', groups });
    await rollBack(kept.revision);
    expect((await signIn(kept)).shown.status).toBe(422);
    const mine = { email: kept.email, password: 'the password of the person' };
    await invite(kept.id, mine.password);
    expect((await signIn(kept)).shown.status).toBe(422);
    expect((await kept.surfer.go('/signin/account')).title).toBe('Sign in – Heddle');
    expect((await signIn(mine)).shown.title).not.toBe('Sign in – Heddle');
  });
});

describe('the one-time password of a user', () => {
  it('whom an admin created is refused while the user is an owner of a tenant', async () => {
    const user = await createUser(admin);
    await update(user.id, { auto_groups: [owners] });
    const { shown } = await signIn(user);
    expect([shown.status, shown.title]).toEqual(refusal);
    await update(user.id, {});
    expect((await signIn(user)).shown.title).toBe('Choose a password – Heddle');
  });

  it('whom an admin created cannot be replaced if the user became an owner during the sign-in', async () => {
    const user = await createUser(admin);
    const { surfer } = await signIn(user);
    await update(user.id, { auto_groups: [owners] });
    expect((await surfer.send(own)).status).toBe(400);
  });

  it('whom an owner created is accepted when the user has become an owner', async () => {
    const user = await createUser(owner);
    await update(user.id, { auto_groups: [owners] });
    expect((await signIn(user)).shown.title).toBe('Choose a password – Heddle');
  });

  it('whom an admin created is refused when the user has become the owner of the account', async () => {
    const user = await createUser(admin);
    await update(user.id, { role: 'owner' });
    const { shown } = await signIn(user);
    expect([shown.status, shown.title]).toEqual(refusal);
  });
});
