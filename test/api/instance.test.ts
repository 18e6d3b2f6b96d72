import { describe, expect, it } from 'vitest';
import { insertToken } from '../../src/db/accounts/tokens.ts';
import { statement } from '../../src/db/builder.ts';
import { watchMachineToken } from '../../src/features/auth/bootstrap.ts';
import { checkPassword } from '../../src/features/auth/password-sign-in.ts';
import { createSignInLimits } from '../../src/features/auth/sign-in-limits.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { testDatabase } from '../setup/database.ts';
import { callAsAnonymous, invitee, newestEvents, person, rowsOf } from './people.ts';
import { problemsOf } from './problems.ts';
import { apiOn, asOperator, sharedApi, type TestApi, testApi } from './setup.ts';

const first: JsonObject = { email: 'First@example.com', name: 'Ana Lima', password: 'correct horse' };

describe('a new server', () => {
  const api = sharedApi();
  const setup = (change: JsonObject) => callAsAnonymous(api())('POST', '/api/setup', { ...first, ...change });

  it.each<readonly [JsonObject, readonly string[]]>([
    [{ email: '' }, ['value_too_short /email']],
    [{ email: 'nobody' }, ['email_invalid /email']],
    [{ name: ' ' }, ['name_invalid /name']],
    [{ password: 'seven c' }, ['value_too_short /password']],
    [{ password: 'password1' }, ['password_invalid /password']],
    [{ create_pat: 'yes' }, ['type_wrong /create_pat']],
    [{ create_pat: true, pat_expire_in: 366 }, ['value_out_of_range /pat_expire_in']],
    [{ create_pat: true, pat_expire_in: 0 }, ['value_out_of_range /pat_expire_in']],
  ])('is not set up with %j', async (change, problems) => {
    const answer = await setup(change);
    expect([answer.status, problemsOf(answer)]).toEqual([422, problems]);
  });

  it('refuses a setup with a body that is not an object', async () => {
    expect((await callAsAnonymous(api())('POST', '/api/setup', '[]')).status).toBe(400);
  });

  it('reports every problem of a setup at once', async () => {
    const answer = await callAsAnonymous(api())('POST', '/api/setup', {});
    expect(problemsOf(answer)).toEqual(['field_required ', 'field_required ', 'field_required ']);
  });

  it('still requires a setup when there are only invites and users without a password', async () => {
    await api().call('POST', '/api/users/invites', invitee());
    const asked = await callAsAnonymous(api())('GET', '/api/instance');
    expect([asked.status, asked.headers['cache-control'], asked.body]).toEqual([
      200,
      'no-store',
      { setup_required: true },
    ]);
  });
});

describe('POST /api/setup', () => {
  it('creates an owner with a token, once', async () => {
    await using own = await testApi();
    const call = callAsAnonymous(own);
    const more = { create_pat: true, pat_expire_in: 7, role: 'auditor', account_id: 'x', is_service_user: true };
    const made = await call('POST', '/api/setup', { ...first, ...more });
    expect([made.status, made.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(made.body).toEqual({
      user_id: expect.any(String),
      email: first['email'],
      personal_access_token: expect.stringMatching(/^nbp_/),
    });
    const authorization = `Token ${made.body.personal_access_token}`;
    const me = (await own.call('GET', '/api/users/current', undefined, { authorization })).body;
    expect(me).toMatchObject({ id: made.body.user_id, role: 'owner', status: 'active', is_service_user: false });
    const [token] = (await own.call('GET', `/api/users/${me.id}/tokens`, undefined, { authorization })).body;
    expect(Date.parse(token.expiration_date) - Date.parse(token.created_at)).toBe(7 * 86_400_000);
    expect([...(await newestEvents(own, 2))].sort()).toEqual([
      `personal.access.token.create ${me.id}`,
      `user.create ${me.id}`,
    ]);
    const [known, unknown] = await Promise.all(
      ['first@example.com', 'second@example.com'].map((person) =>
        checkPassword(own.engine, createSignInLimits(), { address: 'a', person, password: 'correct horse' }),
      ),
    );
    expect([known?.result, unknown?.result]).toEqual(['right', 'wrong']);
    for (const email of ['first@example.com', 'second@example.com']) {
      const again = await call('POST', '/api/setup', { ...first, email });
      expect([again.status, again.body.message]).toEqual([412, expect.stringContaining('set up already')]);
    }
    expect((await call('GET', '/api/instance')).body).toEqual({ setup_required: false });
    // The machine owner of headless installations is kept.
    expect((await own.call('GET', '/api/users/current')).body).toMatchObject({ role: 'owner', name: 'machine owner' });
  });

  it('is refused after a user has signed in through another identity provider', async () => {
    await using own = await testApi();
    const { id } = (await own.call('POST', '/api/users', person())).body;
    const identity = { issuer: 'https://id.example.com', subject: 'ana', at: '2026-01-01T00:00:00Z' };
    await own.engine.database.inAccount(
      own.account,
      [
        statement(
          'insert into identities (account_id, issuer, subject, user_id, created_at) values ($1, $2, $3, $4, $5::timestamptz)',
          [own.account, identity.issuer, identity.subject, id, identity.at],
        ),
      ],
      { write: true },
    );
    const call = callAsAnonymous(own);
    expect((await call('GET', '/api/instance')).body).toEqual({ setup_required: false });
    expect((await call('POST', '/api/setup', first)).status).toBe(412);
  });

  it('succeeds for one of twenty concurrent requests', async () => {
    await using own = await testApi();
    const call = callAsAnonymous(own);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        call('POST', '/api/setup', {
          ...first,
          email: at % 2 === 0 ? 'same@example.com' : `p${at}@example.com`,
          create_pat: true,
        }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(19);
    expect(await rowsOf(own, 'credentials')).toBe(1);
    expect(await rowsOf(own, 'tokens')).toBe(2);
    expect(await rowsOf(own, 'directory', "kind in ('email', 'user')")).toBe(2);
    expect((await own.call('GET', '/api/users')).body).toHaveLength(2);
  });
});

it('a warning is logged from 30 days before the last token of the machine owner expires', async () => {
  await using own = await testApi();
  const at = async (days: number): Promise<readonly string[]> => {
    const reported: string[] = [];
    const now = () => Date.now() + days * 86_400_000;
    const stop = watchMachineToken(own.engine, own.account, { report: (_, message) => reported.push(message), now });
    await stop();
    return reported;
  };
  expect(await at(334)).toEqual([]);
  expect(await at(336)).toEqual([
    expect.stringMatching(/^the token of the machine owner expires on \d{4}-\d\d-\d\d; use it to make another one/),
  ]);
  expect(await at(366)).toEqual([expect.stringContaining('the token of the machine owner expired on ')]);
  const me = (await own.call('GET', '/api/users/current')).body.id;
  await insertToken(own.engine.database, {
    ...{ account: own.account, id: own.engine.newId(), user: me, name: 'next', hash: 'next', createdBy: me },
    ...{ createdAt: '2026-01-01T00:00:00Z', expiresAt: '2126-01-01T00:00:00Z' },
  });
  expect(await at(336)).toEqual([]);
});

describe('a server from which the users or the account were deleted', () => {
  /**
   * Returns a server that was set up and whose users were deleted, or one whose account was deleted before a restart.
   */
  async function deserted(how: 'people' | 'account'): Promise<TestApi> {
    const made = await testDatabase('postgres');
    const { database } = made;
    const api = await apiOn(database, async () => {});
    const { user_id: id } = (await callAsAnonymous(api)('POST', '/api/setup', first)).body;
    if (how === 'account') expect((await api.call('DELETE', `/api/accounts/${api.account}`)).status).toBe(200);
    else {
      expect(
        (await api.call('PUT', `/api/users/${id}`, { role: 'admin', auto_groups: [], is_blocked: false })).status,
      ).toBe(200);
      expect((await api.call('DELETE', `/api/users/${id}`)).status).toBe(200);
      await database.asOwner(['delete from credentials']);
    }
    await api[Symbol.asyncDispose]();
    return apiOn(database, () => made[Symbol.asyncDispose]());
  }

  it.each(['people', 'account'] as const)(
    'is set up by the operator or the machine owner only (deleted: %s)',
    async (how) => {
      await using api = await deserted(how);
      const call = callAsAnonymous(api);
      expect((await call('GET', '/api/instance')).body).toEqual({ setup_required: true });
      const refused = await call('POST', '/api/setup', first);
      expect([refused.status, refused.body.message]).toEqual([401, expect.stringContaining("operator's token")]);
      const { status } = await call('POST', '/api/setup', first, { authorization: 'Token nbp_wrong' });
      expect(status).toBe(401);
      // A service user that the machine owner created is not a machine owner.
      const service = { name: 'ci', role: 'admin', auto_groups: [], is_service_user: true };
      const { id } = (await api.call('POST', '/api/users', service)).body;
      const made = await api.call('POST', `/api/users/${id}/tokens`, { name: 'ci', expires_in: 1 });
      const authorization = `Token ${made.body.plain_token}`;
      expect((await call('POST', '/api/setup', first, { authorization })).status).toBe(401);
      const headers = how === 'people' ? asOperator : {};
      expect((await (how === 'people' ? call : api.call)('POST', '/api/setup', first, headers)).status).toBe(200);
      expect((await call('POST', '/api/setup', first, asOperator)).status).toBe(412);
    },
  );
});
