import { describe, expect, it } from 'vitest';
import { createLocalSignIn } from '../../src/features/auth/local-people.ts';
import { checkPassword } from '../../src/features/auth/password-sign-in.ts';
import { createSignInLimits } from '../../src/features/auth/sign-in-limits.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { makePending } from '../spec/world.ts';
import { callAs, callAsAnonymous, newestEvents, person, rowsOf } from './people.ts';
import { problemsOf } from './problems.ts';
import { sharedApi, type TestApi, testApi } from './setup.ts';

const ended: string[] = [];
const localPeople = createLocalSignIn({
  publicUrl: () => 'https://heddle.example.com',
  passwordChangeListeners: new Set([async ({ user }) => void ended.push(user)]),
});
const api = sharedApi({ localPeople });
const users = '/api/users';
const make = async (own: TestApi = api(), change: JsonObject = {}) =>
  (await own.call('POST', users, person(change))).body;
const signIn = async (own: TestApi, email: string, password: string, address = 'a') =>
  (await checkPassword(own.engine, createSignInLimits(), { address, person: email, password })).result;
const shown = async (own: TestApi, id: string): Promise<JsonObject | undefined> =>
  (await own.call('GET', users)).body.find((user: JsonObject) => user['id'] === id);

describe('POST /api/users', () => {
  it('returns a password for the first sign-in, shown only once', async () => {
    const answer = await api().call('POST', users, person({ email: 'New@Example.com' }));
    expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(answer.body.password).toMatch(/^[A-HJ-NP-Za-km-z2-9]{16}$/);
    expect(answer.headers['heddle-notice']).toMatch(
      /^no mail was sent.*https:\/\/heddle\.example\.com\/signin\/account, and the account \w+ /,
    );
    expect(await signIn(api(), 'new@example.com', answer.body.password)).toBe('right');
    expect(await newestEvents(api(), 1)).toEqual([`user.create ${answer.body.id}`]);
    expect(await shown(api(), answer.body.id)).not.toHaveProperty('password');
  });

  it('creates one user when repeated with the same idempotency key, and returns the same password', async () => {
    const [body, key] = [person(), { 'idempotency-key': 'new-person' }];
    const first = await api().call('POST', users, body, key);
    const second = await api().call('POST', users, body, key);
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect(await signIn(api(), body.email, first.body.password)).toBe('right');
  });

  it('ignores members that only the server sets', async () => {
    const more = { issued: 'integration', account_id: 'x', id: 'mine', status: 'active', pending_approval: true };
    const { body, headers } = await api().call('POST', users, person(more));
    expect(body).toMatchObject({ role: 'user', issued: 'api', status: 'invited', pending_approval: false });
    expect([body.id === 'mine', headers['heddle-ignored']]).toEqual([false, '/account_id']);
  });

  it('creates a user with an email address that another account on the server has', async () => {
    const { id, email } = await make();
    await api().engine.database.asOwner([
      "insert into accounts (account_id, created_at) values ('other', now())",
      `update directory set account_id = 'other' where kind = 'email' and value = '${email}'`,
    ]);
    await api().call('DELETE', `${users}/${id}`);
    const again = await api().call('POST', users, person({ email }));
    expect(again.status).toBe(200);
    expect(await signIn(api(), email, again.body.password)).toBe('right');
  });
});

describe('an invitation', () => {
  it('is renewed until the person has signed in; without a mail server it is returned as a link', async () => {
    const { id, email } = await make();
    const again = await api().call('POST', `${users}/${id}/invite`);
    expect([again.status, again.body, again.headers['cache-control']]).toEqual([200, '', 'no-store']);
    const link = again.headers['heddle-invite-link'] ?? '';
    expect(link).toMatch(/^https:\/\/heddle\.example\.com\/invite\/nbi_/);
    expect(await newestEvents(api(), 1)).toEqual([`user.invite ${id}`]);
    const token = link.split('/').at(-1) ?? '';
    expect((await callAsAnonymous(api())('GET', `/api/users/invites/${token}`)).body).toMatchObject({
      email,
      valid: true,
    });
    // The invitation is not listed as an invite, because accepting it does not create a user.
    expect((await api().call('GET', '/api/users/invites')).body.some((one: JsonObject) => one['email'] === email)).toBe(
      false,
    );
    const third = (await api().call('POST', `${users}/${id}/invite`)).headers['heddle-invite-link'] ?? '';
    const accept = (url: string) =>
      callAsAnonymous(api())('POST', `/api/users/invites/${url.split('/').at(-1)}/accept`, {
        password: 'my own words',
      });
    expect([(await accept(link)).status, (await accept(third)).status]).toEqual([404, 200]);
    expect(await signIn(api(), email, 'my own words')).toBe('right');
    expect(await shown(api(), id)).toMatchObject({ status: 'active' });
    expect((await api().call('POST', `${users}/${id}/invite`)).status).toBe(412);
  });

  it('is refused with 412 for a service user and with 404 for an unknown user', async () => {
    const { id } = await make(api(), { email: '', is_service_user: true });
    expect((await api().call('POST', `${users}/${id}/invite`)).status).toBe(412);
    expect((await api().call('POST', `${users}/nobody/invite`)).status).toBe(404);
  });

  it('has an acceptance page, which does not contain the token', async () => {
    const { body, headers } = await callAsAnonymous(api())('GET', '/invite/nbi_whatever');
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['content-security-policy']).toMatch(/default-src 'none'; style-src 'sha256-.*script-src 'sha256-/);
    expect([headers['referrer-policy'], String(body).includes('nbi_')]).toEqual(['no-referrer', false]);
  });
});

describe('a user who waits for approval', () => {
  it('is approved, and cannot be approved again', async () => {
    const { id } = await make();
    await makePending({ api: api() }, id);
    expect(await shown(api(), id)).toMatchObject({ pending_approval: true, is_blocked: true, status: 'blocked' });
    const approved = await api().call('POST', `${users}/${id}/approve`);
    expect([approved.status, approved.body]).toEqual([
      200,
      expect.objectContaining({ id, pending_approval: false, is_blocked: false, status: 'invited' }),
    ]);
    expect(await newestEvents(api(), 1)).toEqual([`user.approve ${id}`]);
    const again = await api().call('POST', `${users}/${id}/approve`);
    expect([again.status, problemsOf(again)]).toEqual([422, ['user_not_pending ']]);
  });

  it('is rejected, and deleted with all directory entries', async () => {
    const { id, email } = await make();
    await makePending({ api: api() }, id);
    expect((await api().call('DELETE', `${users}/${id}/reject`)).status).toBe(200);
    expect([...(await newestEvents(api(), 2))].sort()).toEqual([`user.delete ${id}`, `user.reject ${id}`]);
    expect(await rowsOf(api(), 'directory', `value in ('${email}', '${id}')`)).toBe(0);
    expect((await api().call('DELETE', `${users}/${id}/reject`)).status).toBe(404);
    expect((await api().call('DELETE', `${users}/${(await make()).id}/reject`)).status).toBe(422);
  });
});

describe('a password', () => {
  const change = (own: TestApi, id: string, body: JsonObject) =>
    callAs(own, id).then((call) => call('PUT', `${users}/${id}/password`, body));

  it('is changed by its user, which ends other sessions', async () => {
    const { id, email, password } = await make();
    const done = await change(api(), id, { old_password: password, new_password: 'something else' });
    expect([done.status, done.body]).toEqual([200, '']);
    expect(await signIn(api(), email, 'something else')).toBe('right');
    expect(await signIn(api(), email, password)).toBe('wrong');
    expect(await newestEvents(api(), 1)).toEqual([`user.password.change ${id}`]);
    expect(ended).toEqual([id]);
  });

  it.each<readonly [JsonObject, readonly string[]]>([
    [{ old_password: '', new_password: 'something else' }, ['value_too_short /old_password']],
    [{ old_password: 'x' }, ['field_required ']],
    [{ old_password: 'x', new_password: 'seven c' }, ['value_too_short /new_password']],
    [{ old_password: 'x', new_password: 'password1' }, ['password_invalid /new_password']],
    [{ old_password: 'x', new_password: 'something else' }, ['password_wrong /old_password']],
  ])('is not changed with %j', async (body, problems) => {
    const { id } = await make();
    const refused = await change(api(), id, body);
    expect([refused.status, problemsOf(refused)]).toEqual([422, problems]);
  });

  it('is changed by its own user only, and does not exist for a machine owner', async () => {
    const { id, password } = await make();
    const body = { old_password: password, new_password: 'something else' };
    const other = await api().call('PUT', `${users}/${id}/password`, body);
    expect([other.status, problemsOf(other)]).toEqual([422, ['user_not_caller ']]);
    const me = (await api().call('GET', `${users}/current`)).body.id;
    const machine = await api().call('PUT', `${users}/${me}/password`, body);
    expect([machine.status, problemsOf(machine)]).toEqual([422, ['password_wrong /old_password']]);
  });

  it('is protected against guessing: 429 after 10 wrong attempts', async () => {
    const { id } = await make();
    const statuses = [];
    for (let at = 0; at < 11; at++)
      statuses.push((await change(api(), id, { old_password: `guess ${at}`, new_password: 'something else' })).status);
    expect(statuses).toEqual([...Array<number>(10).fill(422), 429]);
  });
});

describe('a deleted user', () => {
  it('loses tokens, invites and directory entries, and keeps a proved password when created again', async () => {
    await using own = await testApi();
    const { id, email, password } = await make(own, { role: 'admin' });
    await own.engine.database.asOwner([`update credentials set proved_user = user_id where user_id = '${id}'`]);
    const call = await callAs(own, id);
    await call('POST', '/api/users/invites', { name: 'G', email: 'guest@example.com', role: 'user', auto_groups: [] });
    await own.call('POST', `${users}/${id}/invite`);
    expect((await own.call('DELETE', `${users}/${id}`)).status).toBe(200);
    expect(await rowsOf(own, 'directory', "kind <> 'token'")).toBe(0);
    expect([await rowsOf(own, 'invites'), await rowsOf(own, 'tokens', `user_id = '${id}'`)]).toEqual([0, 0]);
    expect(await signIn(own, email, password)).toBe('wrong');
    const back = await own.call('POST', users, person({ email }));
    expect([back.status, back.body.password]).toEqual([200, undefined]);
    expect(back.headers['heddle-notice']).toContain('signs in with their existing password');
    expect(await signIn(own, email, password)).toBe('right');
  });

  it('loses the credentials at the identity provider where the server is configured so, also when a document deletes the user', async () => {
    await using own = await testApi('postgres', { deletesIdpUsers: true });
    const document = { kind: 'User', metadata: { name: 'eve' }, spec: person() };
    const put = (documents: readonly JsonObject[]) =>
      own.call('POST', '/api/config/apply', {
        source: 'people',
        files: documents.map((one, at) => ({
          path: `${at}.yaml`,
          text: JSON.stringify({ apiVersion: 'heddle.dev/v1', ...one }),
        })),
      });
    const group = { kind: 'Group', metadata: { name: 'kept' }, spec: { name: 'kept' } };
    expect((await put([document, group])).status).toBeLessThan(300);
    const made = (await own.call('GET', users)).body.find((user: JsonObject) => user['is_current'] === false);
    const link = (await own.call('POST', `${users}/${made.id}/invite`)).headers['heddle-invite-link'] ?? '';
    const accept = `/api/users/invites/${link.split('/').at(-1)}/accept`;
    expect((await callAsAnonymous(own)('POST', accept, { password: 'my own words' })).status).toBe(200);
    expect(await rowsOf(own, 'credentials')).toBe(1);
    const gone = await put([group]);
    expect([gone.body.message, (await own.call('GET', users)).body.length]).toEqual([undefined, 1]);
    expect([await rowsOf(own, 'credentials'), await rowsOf(own, 'directory', "kind <> 'token'")]).toEqual([0, 0]);
  });
});
