import { describe, expect, it } from 'vitest';
import { statement } from '../../src/db/builder.ts';
import { checkPassword } from '../../src/features/auth/password-sign-in.ts';
import { recordSignIn } from '../../src/features/auth/provider/first-sign-in.ts';
import { createSignInLimits } from '../../src/features/auth/sign-in-limits.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { makeToken } from '../../src/lib/token.ts';
import { present } from '../setup/present.ts';
import { doc } from './documents.ts';
import { callAs, callAsAnonymous, invitee, newestEvents, person, rowsOf } from './people.ts';
import { problemsOf } from './problems.ts';
import { sharedApi, type TestApi, testApi } from './setup.ts';

const api = sharedApi();
const path = '/api/users/invites';
const password = 'correct horse';
const invite = (change: JsonObject = {}, own = api()) => own.call('POST', path, invitee(change));
const accept = (token: string, body: JsonObject = { password }, own = api()) =>
  callAsAnonymous(own)('POST', `${path}/${token}/accept`, body);
const read = (token: string, own = api()) => callAsAnonymous(own)('GET', `${path}/${token}`);
const signIn = (own: TestApi, email: string, word = password) =>
  checkPassword(own.engine, createSignInLimits(), { address: 'a', person: email, password: word });
const expire = (own: TestApi, id: string) =>
  own.engine.database.inAccount(own.account, [
    statement("update invites set expires_at = now() - interval '1 second' where account_id = $1 and id = $2", [
      own.account,
      id,
    ]),
  ]);

describe('an invite', () => {
  it('creates a user when it is accepted, who signs in with the password', async () => {
    const group = await api().group('guests');
    const body = invitee({ role: 'Auditor', auto_groups: [group], name: 'Zoë' });
    const made = await api().call('POST', path, body);
    expect([made.status, made.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(made.body).toMatchObject({ email: body['email'], name: 'Zoë', role: 'auditor', auto_groups: [group] });
    expect(made.body).toMatchObject({ expired: false, invite_token: expect.stringMatching(/^nbi_[0-9A-Za-z]{36}$/) });
    expect(Date.parse(made.body.expires_at) - Date.parse(made.body.created_at)).toBe(259_200_000);
    expect(made.headers['heddle-notice']).toMatch(/^no mail was sent.*give the user the link http.*\/invite\//);
    expect(await newestEvents(api(), 1)).toEqual([`user.invite.link.create ${made.body.id}`]);
    expect(await signIn(api(), String(body['email']))).toEqual({ result: 'wrong' });
    const seen = await read(made.body.invite_token);
    expect([seen.status, seen.headers['cache-control'], seen.body]).toEqual([
      200,
      'no-store',
      { email: body['email'], name: 'Zoë', expires_at: made.body.expires_at, valid: true, invited_by: 'machine owner' },
    ]);
    const accepted = await accept(made.body.invite_token);
    expect([accepted.status, accepted.body]).toEqual([200, { success: true }]);
    const signedIn = await signIn(api(), String(body['email']).toUpperCase());
    const user = present(signedIn.result === 'right' ? signedIn.matches[0].user : undefined);
    const listed = (await api().call('GET', '/api/users')).body.find(({ id }: { id: string }) => id === user.id);
    expect(listed).toMatchObject({
      name: 'Zoë',
      role: 'auditor',
      auto_groups: [group],
      status: 'active',
      issued: 'api',
    });
    expect(await newestEvents(api(), 1)).toEqual([`user.invite.link.accept ${user.id}`]);
    const [event] = (await api().call('GET', '/api/events/audit')).body;
    expect(event).toMatchObject({
      initiator_id: user.id,
      initiator_email: body['email'],
      meta: { email: body['email'] },
    });
    expect((await read(made.body.invite_token)).status).toBe(404);
    expect(await signIn(api(), String(body['email']), 'wrong horse')).toEqual({ result: 'wrong' });
  });

  it('is accepted once, even by concurrent requests', async () => {
    const { invite_token: token, email } = (await invite()).body;
    const answers = await Promise.all([1, 2, 3, 4, 5].map((at) => accept(token, { password: `password ${at}` })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404]);
    const people = (await api().call('GET', '/api/users')).body.filter((user: JsonObject) => user['email'] === email);
    expect(people).toHaveLength(1);
    expect((await accept(token)).status).toBe(404);
  });

  it('is listed without its token until it is accepted or deleted', async () => {
    await using own = await testApi();
    expect((await own.call('GET', path)).body).toEqual([]);
    const { invite_token: _, ...shown } = (await invite({}, own)).body;
    expect((await own.call('GET', path)).body).toEqual([shown]);
    await expire(own, shown.id);
    expect((await own.call('GET', path)).body).toMatchObject([{ id: shown.id, expired: true }]);
    expect((await own.call('DELETE', `${path}/${shown.id}`)).status).toBe(200);
    expect(await newestEvents(own, 1)).toEqual([`user.invite.link.delete ${shown.id}`]);
    expect((await own.call('GET', path)).body).toEqual([]);
    expect([await rowsOf(own, 'invites'), await rowsOf(own, 'directory', "kind = 'invite'")]).toEqual([0, 0]);
  });

  it('gets a new token and expiry when it is regenerated, and the old token is refused', async () => {
    const { id, invite_token: old } = (await invite()).body;
    await expire(api(), id);
    expect([(await accept(old)).status, (await read(old)).body.valid]).toEqual([422, false]);
    const renewed = await api().call('POST', `${path}/${id}/regenerate`);
    expect(renewed.body).toEqual({
      invite_token: expect.stringMatching(/^nbi_/),
      invite_expires_at: expect.any(String),
    });
    expect(await newestEvents(api(), 1)).toEqual([`user.invite.link.regenerate ${id}`]);
    expect((await read(old)).status).toBe(404);
    expect((await accept(renewed.body.invite_token)).status).toBe(200);
    expect((await api().call('POST', `${path}/${id}/regenerate`, { expires_in: 7200 })).status).toBe(404);
  });

  it('is stored without its token', async () => {
    const { invite_token: token, id } = (await invite()).body;
    expect(await rowsOf(api(), 'invites', `id = '${id}' and invites::text like '%${token}%'`)).toBe(0);
    expect(await rowsOf(api(), 'directory', `value like '%${token.slice(4)}%'`)).toBe(0);
  });

  it('is refused for the email address of an existing user or invite', async () => {
    const known = person({ email: 'Known@example.com' });
    await api().call('POST', '/api/users', known);
    const taken = await invite({ email: 'known@EXAMPLE.com' });
    expect([taken.status, taken.body.message]).toEqual([409, expect.stringContaining('already exists')]);
    await invite({ email: 'twice@example.com' });
    const again = await invite({ email: 'Twice@example.com' });
    expect([again.status, again.body.message]).toEqual([409, expect.stringContaining('invite for Twice@example.com')]);
  });

  it('is refused with 409 when its email address has become a user meanwhile', async () => {
    const { invite_token: token, email } = (await invite()).body;
    await api().call('POST', '/api/users', person({ email }));
    expect((await accept(token)).status).toBe(409);
    expect((await read(token)).status).toBe(200);
  });

  it.each<readonly [JsonObject, readonly string[]]>([
    [{ role: 'owner' }, ['user_role_owner /role']],
    [{ role: 'king' }, ['value_not_allowed /role']],
    [{ name: '' }, ['value_too_short /name']],
    [{ email: '' }, ['value_too_short /email']],
    [{ email: 'nobody' }, ['email_invalid /email']],
    [{ auto_groups: ['nobody'] }, ['reference_unknown /auto_groups/0']],
    [{ expires_in: 0 }, ['value_out_of_range /expires_in']],
    [{ expires_in: -5 }, ['value_out_of_range /expires_in']],
    [{ expires_in: 3599 }, ['value_out_of_range /expires_in']],
    [{ expires_in: 31_536_001 }, ['value_out_of_range /expires_in']],
  ])('with %j is refused', async (change, problems) => {
    const answer = await invite(change);
    expect([answer.status, problemsOf(answer)]).toEqual([422, problems]);
  });

  it.each([
    ['seven c', 'value_too_short /password'],
    ['x'.repeat(1025), 'value_too_long /password'],
    [12_345_678, 'type_wrong /password'],
    [undefined, 'field_required '],
  ] as const)('is not accepted with the password %j', async (word, problem) => {
    const { invite_token: token } = (await invite()).body;
    const refused = await accept(token, word === undefined ? {} : { password: word });
    expect([refused.status, problemsOf(refused)]).toEqual([422, [problem]]);
    expect((await accept(token, { password: 'aaaaaaaa' })).status).toBe(200);
  });

  it('ignores all members but the password when it is accepted', async () => {
    const { invite_token: token, email } = (await invite()).body;
    const more = {
      role: 'owner',
      email: 'other@example.com',
      account_id: 'x',
      issued: 'integration',
      is_blocked: false,
    };
    expect((await accept(token, { password, ...more })).status).toBe(200);
    const made = (await api().call('GET', '/api/users')).body.find((user: JsonObject) => user['email'] === email);
    expect(made).toMatchObject({ role: 'user', issued: 'api' });
  });

  it('leaves out groups that were deleted meanwhile', async () => {
    const [kept, gone] = [await api().group('kept guests'), await api().group('gone guests')];
    const { id, email } = (await invite({ auto_groups: [kept, gone] })).body;
    // A group is deleted while the invite is expired. Then the invite is renewed.
    await expire(api(), id);
    expect((await api().call('DELETE', `/api/groups/${gone}`)).status).toBe(200);
    const { invite_token: token } = (await api().call('POST', `${path}/${id}/regenerate`, {})).body;
    expect((await accept(token)).status).toBe(200);
    const made = (await api().call('GET', '/api/users')).body.find((user: JsonObject) => user['email'] === email);
    expect(made.auto_groups).toEqual([kept]);
  });

  it('is deleted together with its sender', async () => {
    const { id } = (await api().call('POST', '/api/users', person({ role: 'admin' }))).body;
    const { invite_token: token } = (await (await callAs(api(), id))('POST', path, invitee())).body;
    expect((await read(token)).body.valid).toBe(true);
    await api().call('DELETE', `/api/users/${id}`);
    expect((await read(token)).status).toBe(404);
  });
});

describe('an invite of a sender who may no longer invite', () => {
  it.each<readonly [string, JsonObject]>([
    ['is no admin any more', { role: 'user' }],
    ['is blocked', { is_blocked: true }],
  ])('is void since the sender %s, until another user renews it', async (_, change) => {
    const sender = person({ role: 'admin' });
    const { id: by } = (await api().call('POST', '/api/users', sender)).body;
    const { invite_token: token, id } = (await (await callAs(api(), by))('POST', path, invitee({ role: 'admin' })))
      .body;
    const replaced = { role: 'admin', auto_groups: [], is_blocked: false, ...change };
    expect((await api().call('PUT', `/api/users/${by}`, replaced)).status).toBe(200);
    expect((await read(token)).body.valid).toBe(false);
    const refused = await accept(token);
    expect([refused.status, problemsOf(refused)]).toEqual([422, ['invite_void ']]);
    const renewed = (await api().call('POST', `${path}/${id}/regenerate`)).body.invite_token;
    expect((await read(renewed)).body).toMatchObject({ valid: true, invited_by: 'machine owner' });
    await api().call('DELETE', `/api/users/${by}`);
    expect((await accept(renewed)).status).toBe(200);
  });
});

describe('an invitation of a user who has since signed in with the given password', () => {
  it('is void, and leaves that password unchanged', async () => {
    const body = person();
    const { id, password: given } = (await api().call('POST', '/api/users', body)).body;
    const sent = await api().call('POST', `/api/users/${id}/invite`);
    const token = String(sent.headers['heddle-invite-link']).split('/').at(-1) ?? '';
    expect((await read(token)).body.valid).toBe(true);
    const { revision } = await api().engine.snapshots.fresh(api().account);
    await recordSignIn(api().engine, {
      account: api().account,
      revision,
      id,
      name: 'Ana',
      email: body.email,
      emailProved: false,
    });
    expect((await read(token)).body.valid).toBe(false);
    const refused = await accept(token);
    expect([refused.status, problemsOf(refused)]).toEqual([422, ['invite_void ']]);
    expect((await signIn(api(), body.email, given)).result).toBe('right');
  });
});

describe('an invite token', () => {
  it('is answered with the same 404 when it is malformed and when it is unknown', async () => {
    const known = makeToken('nbi_', new Uint8Array(32).fill(3));
    const answers = await Promise.all(
      [known, `${known.slice(0, -1)}x`, known.replace('nbi_', 'nbp_'), 'nbi_', 'nobody'].map((token) => read(token)),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${JSON.stringify(body)}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(404);
  });

  it('is rate-limited against guessing: ten attempts a minute from one address, five at once', async () => {
    await using own = await testApi('postgres', { anonymousRateLimit: { perMinute: 10, burst: 5 } });
    const answers = [];
    for (let at = 0; at < 7; at++) answers.push(await read('nbi_guess', own));
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 429, 429]);
    expect(Number(answers[5]?.headers['retry-after'])).toBeGreaterThan(0);
    expect((await accept('nbi_guess', { password }, own)).status).toBe(429);
    // Requests with credentials are not limited.
    expect((await own.call('GET', path)).status).toBe(200);
  });
});

describe('permissions for invites', () => {
  it.each([
    ['admin', [200, 200, 200, 200]],
    ['network_admin', [200, 403, 403, 403]],
    ['auditor', [200, 403, 403, 403]],
    ['user', [403, 403, 403, 403]],
    ['billing_admin', [403, 403, 403, 403]],
  ])('are enforced for the role %s', async (role, expected) => {
    const { id } = (await api().call('POST', '/api/users', person({ role }))).body;
    const call = await callAs(api(), id);
    const own = (await invite()).body.id;
    const answers = [
      await call('GET', path),
      await call('POST', path, invitee()),
      await call('POST', `${path}/${own}/regenerate`),
      await call('DELETE', `${path}/${own}`),
    ];
    expect(answers.map(({ status }) => status)).toEqual(expected);
  });

  it('are refused with 401 without credentials', async () => {
    const call = callAsAnonymous(api());
    expect((await call('GET', path)).status).toBe(401);
    expect((await call('POST', path, invitee())).status).toBe(401);
  });
});

describe.each([
  ['is switched off', { embeddedIdp: false, localAuthDisabled: false }],
  ['takes no passwords', { embeddedIdp: true, localAuthDisabled: true }],
])('a server on which the identity provider %s', (_, installation) => {
  const own = sharedApi({ installation });

  it('refuses invites with 412, and creates users without a password', async () => {
    const { id } = (await own().call('POST', '/api/users', person())).body;
    const asked = await Promise.all([
      own().call('GET', path),
      own().call('POST', path, invitee()),
      own().call('POST', `/api/users/${id}/invite`),
      accept('nbi_guess', { password }, own()),
      callAsAnonymous(own())('POST', '/api/setup', { email: 'a@example.com', name: 'A', password }),
    ]);
    expect(asked.map(({ status }) => status)).toEqual([412, 412, 412, 412, 412]);
    const made = await own().call('POST', '/api/users', person());
    expect([made.status, made.body.password, made.body.status]).toEqual([200, undefined, 'invited']);
    expect((await own().call('GET', '/api/instance')).body).toEqual({ setup_required: false });
  });
});

describe('a group in a pending invite', () => {
  it('cannot be deleted until the invite is accepted, deleted or expired', async () => {
    await using own = await testApi();
    const apply = (text: string, more: JsonObject = {}) =>
      own.call('POST', '/api/config/apply', { source: 'team', files: [{ path: 'a.yaml', text }], ...more });
    const documents = ['invited', 'other'].map((name) => doc('Group', name, '{}'));
    await apply(documents.join('---\n'));
    const groups: readonly JsonObject[] = (await own.call('GET', '/api/groups')).body;
    const idOf = (name: string) => String(groups.find((group) => group['name'] === name)?.['id']);
    const byHand = await own.group('by hand');
    const rule = { name: 'r', enabled: true, action: 'accept', bidirectional: false, protocol: 'all' };
    const policy = { name: 'Uses it', enabled: true, rules: [{ ...rule, sources: [byHand], destinations: [byHand] }] };
    const used = (await own.call('POST', '/api/policies', policy)).body.id;
    const { id } = (await invite({ email: 'zoe@example.com', auto_groups: [byHand, idOf('invited')] }, own)).body;
    const refused = await own.call('DELETE', `/api/groups/${byHand}`);
    expect([refused.status, problemsOf(refused)]).toEqual([400, ['object_linked ']]);
    expect(refused.body.message).toContain('linked to policy: Uses it, invite: zoe@example.com;');
    await own.call('DELETE', `/api/policies/${used}`);
    expect((await own.call('DELETE', `/api/groups/${byHand}`)).status).toBe(400);
    const pruned = await apply(documents[1] ?? '');
    expect([pruned.status, pruned.body.message]).toEqual([400, expect.stringContaining('invite: zoe@example.com')]);
    expect((await own.call('GET', `/api/groups/${idOf('invited')}`)).status).toBe(200);
    // A group that is in no invite is deleted as usual.
    expect((await apply(documents[0] ?? '', {})).status).toBe(200);
    await expire(own, id);
    expect((await own.call('DELETE', `/api/groups/${byHand}`)).status).toBe(200);
    await own.call('DELETE', `${path}/${id}`);
  });
});
