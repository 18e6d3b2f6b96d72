import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storedObject } from '../../src/commit/bootstrap.ts';
import { createPersonAuthenticator } from '../../src/features/auth/authenticate.ts';
import { createExternalIssuer } from '../../src/features/auth/issuers.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { canonicalSpec } from '../../src/model/schema/normalize.ts';
import { type Answer, type TestApi, testApi } from '../api/setup.ts';
import { putObjects } from '../setup/objects.ts';
import { plainOutbound } from '../setup/outbound.ts';
import { audience, startProvider, type TestProvider } from './provider.ts';

let provider: TestProvider;
let one: TestApi;
let many: TestApi;

beforeAll(async () => {
  provider = await startProvider();
  const people = (singleAccount: boolean) => (engine: TestApi['engine']) =>
    createPersonAuthenticator({
      ...{ engine, singleAccount, now: Date.now },
      issuers: [
        createExternalIssuer({ issuer: provider.issuer, outbound: plainOutbound, audience: [audience], cooldownMs: 0 }),
      ],
    });
  one = await testApi('postgres', { people: people(true) });
  many = await testApi('postgres', { people: people(false) });
});
afterAll(async () => {
  await one?.[Symbol.asyncDispose]();
  await many?.[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

type As = (method: string, url: string, body?: Json) => Promise<Answer>;

/** Returns a function that sends requests with a token that the provider signed for this subject. */
async function visitor(on: TestApi, subject: string, claims: JsonObject = {}): Promise<As> {
  const token = await provider.sign({ sub: subject, ...claims });
  return (method, url, body) => on.call(method, url, body, { authorization: `Bearer ${token}` });
}

/** Writes an invited user into an account. */
async function putUser({ engine }: TestApi, account: string, body: JsonObject, at = engine.now()): Promise<void> {
  const { spec } = canonicalSpec(engine.registry.get('User'), body);
  const user = storedObject(engine, { id: engine.newId(), kind: 'User', spec, derived: {} }, at);
  await putObjects(engine, account, () => [user]);
}

/** Returns claims with an address that the provider has verified. */
const proved = (email: string): JsonObject => ({ email, email_verified: true, name: email.split('@')[0] ?? '' });

async function setSettings(on: TestApi, change: JsonObject): Promise<void> {
  const [account] = (await on.call('GET', '/api/accounts')).body;
  const { extra, ...settings } = account.settings;
  const { extra: extraChange = {}, ...others } = change;
  const body = { settings: { ...settings, ...others, extra: { ...extra, ...(extraChange as JsonObject) } } };
  expect((await on.call('PUT', `/api/accounts/${account.id}`, body)).status).toBe(200);
}

const events = async (on: TestApi | As): Promise<readonly string[]> => {
  const call = typeof on === 'function' ? on : on.call;
  const answer = await call('GET', '/api/events/audit');
  return answer.body.map((event: { readonly activity_code: string }) => event.activity_code);
};

describe('a server with a single account', () => {
  it('lets a new user wait for an admin, who sees them', async () => {
    const ana = await visitor(one, 'ana', proved('ana@example.com'));
    const answer = await ana('GET', '/api/groups');
    expect([answer.status, answer.body.message]).toEqual([403, 'user is pending approval']);
    const { body } = await one.call('GET', '/api/users?service_user=false');
    const user = body.find(({ email }: { readonly email: string }) => email === 'ana@example.com');
    expect(user).toMatchObject({ name: 'ana', role: 'user', is_blocked: true, pending_approval: true, issued: 'api' });
    expect((await events(one)).slice(0, 1)).toEqual(['user.join']);
  });

  it('makes a new user active when no approval is required, and records the sign-in once', async () => {
    await setSettings(one, { extra: { user_approval_required: false } });
    const signedIn = Math.floor(Date.now() / 1000) - 10;
    const bob = await visitor(one, 'bob', { ...proved('bob@example.com'), auth_time: signedIn });
    const current = await bob('GET', '/api/users/current');
    expect(current.body).toMatchObject({ email: 'bob@example.com', role: 'user', status: 'active', is_current: true });
    expect((await events(one)).slice(0, 2)).toEqual(['dashboard.login', 'user.join']);
    const reported = (await one.call('GET', '/api/users')).body.find(
      ({ id }: { readonly id: string }) => id === current.body.id,
    );
    const second = new Date(signedIn * 1000).toISOString();
    expect([reported.last_login, (await bob('GET', '/api/users/current')).body.last_login]).toEqual([second, second]);
    const revision = await one.revision();
    const refreshed = await visitor(one, 'bob', { ...proved('bob@example.com'), auth_time: signedIn, jti: '2' });
    for (const call of [bob, refreshed, bob]) expect((await call('GET', '/api/users/current')).status).toBe(200);
    expect((await events(one)).slice(0, 2)).toEqual(['dashboard.login', 'user.join']);
    expect(await one.revision()).toBe(revision);
    const again = await visitor(one, 'bob', { ...proved('bob@example.com'), auth_time: signedIn + 5 });
    await again('GET', '/api/users/current');
    expect((await events(one)).slice(0, 2)).toEqual(['dashboard.login', 'dashboard.login']);
  });

  it('creates one user for twenty simultaneous first requests', async () => {
    const callers = await Promise.all(
      Array.from({ length: 20 }, (_, jti) => visitor(one, 'eve', { ...proved('eve@example.com'), jti: String(jti) })),
    );
    const answers = await Promise.all(callers.map((call) => call('GET', '/api/users/current')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    const reported = (await events(one)).slice(0, 3);
    expect(reported.filter((code) => code === 'user.join')).toHaveLength(1);
  });

  it('signs in an invited person as the user who was invited', async () => {
    const body = { email: 'Ida@example.com', name: 'Ida', role: 'admin', auto_groups: [], is_service_user: false };
    const invited = (await one.call('POST', '/api/users', body)).body;
    const ida = await visitor(one, 'ida', proved('ida@example.com'));
    const current = (await ida('GET', '/api/users/current')).body;
    expect(current).toMatchObject({ id: invited.id, role: 'admin', status: 'active', idp_id: provider.issuer });
    expect((await events(one)).slice(0, 2)).toEqual(['dashboard.login', 'user.join']);
  });

  it('refuses an unverified address of an invited user, and a verified address of another user', async () => {
    const body = { email: 'max@example.com', name: 'Max', role: 'owner', auto_groups: [], is_service_user: false };
    await one.call('POST', '/api/users', { ...body, role: 'admin' });
    const liar = await visitor(one, 'liar', { email: 'max@example.com', email_verified: false });
    const refused = await liar('GET', '/api/users/current');
    expect([refused.status, refused.body.message]).toEqual([
      403,
      expect.stringContaining('does not confirm that the address'),
    ]);
    const max = await visitor(one, 'max', proved('max@example.com'));
    expect((await max('GET', '/api/users/current')).status).toBe(200);
    const other = await visitor(one, 'other', proved('max@example.com'));
    const taken = await other('GET', '/api/users/current');
    expect([taken.status, taken.body.message]).toEqual([
      403,
      expect.stringContaining('another person of the identity provider already signs in as'),
    ]);
  });

  it("identifies a person without an address by the provider's subject alone", async () => {
    const nameless = await visitor(one, 'robot-7');
    const current = (await nameless('GET', '/api/users/current')).body;
    expect(current).toMatchObject({ email: '', name: 'robot-7', is_service_user: false });
  });

  it('creates a new user when a deleted one signs in again', async () => {
    const gus = await visitor(one, 'gus', proved('gus@example.com'));
    const { id } = (await gus('GET', '/api/users/current')).body;
    expect((await one.call('DELETE', `/api/users/${id}`)).status).toBe(200);
    const again = await gus('GET', '/api/users/current');
    expect([again.status, again.body.email]).toEqual([200, 'gus@example.com']);
    expect(again.body.id).not.toBe(id);
  });

  it('reports to blocked users that they are blocked', async () => {
    const tom = await visitor(one, 'tom', proved('tom@example.com'));
    const { id } = (await tom('GET', '/api/users/current')).body;
    await one.call('PUT', `/api/users/${id}`, { role: 'user', auto_groups: [], is_blocked: true });
    const refused = await tom('GET', '/api/users/current');
    expect([refused.status, refused.body.message]).toEqual([403, 'user is blocked']);
  });

  it('refuses an invalid token and creates nothing', async () => {
    const revision = await one.revision();
    const answer = await one.call('GET', '/api/users/current', undefined, { authorization: 'Bearer ey.ey.ey' });
    expect([answer.status, answer.body.message]).toEqual([401, 'token invalid']);
    const wrong = await provider.sign({ sub: 'zoe', aud: 'other' });
    const refused = await one.call('GET', '/api/users', undefined, { authorization: `Bearer ${wrong}` });
    expect([refused.status, refused.body.message]).toEqual([401, 'token invalid']);
    const scheme = await one.call('GET', '/api/users', undefined, {
      authorization: `Token ${await provider.sign({})}`,
    });
    expect([scheme.status, scheme.body.message]).toEqual([401, 'token invalid']);
    expect(await one.revision()).toBe(revision);
  });
});

describe('a server with many accounts', () => {
  it('makes the first person of a domain owner of a new account, which the next person joins', async () => {
    const first = await visitor(many, 'first', proved('first@acme.example'));
    const current = (await first('GET', '/api/users/current')).body;
    expect(current).toMatchObject({ email: 'first@acme.example', role: 'owner', status: 'active' });
    const [account] = (await first('GET', '/api/accounts')).body;
    expect(account).toMatchObject({ domain: 'acme.example', domain_category: 'private', created_by: current.id });
    expect((await first('GET', '/api/groups')).body.map(({ name }: { readonly name: string }) => name)).toEqual([
      'All',
    ]);
    expect((await first('GET', '/api/policies')).body[0]).toMatchObject({ name: 'Default', enabled: true });
    expect(await events(first)).toEqual(expect.arrayContaining(['account.create', 'dashboard.login', 'user.join']));

    const second = await visitor(many, 'second', proved('second@acme.example'));
    expect((await second('GET', '/api/users/current')).body.message).toBe('user is pending approval');
    const users = (await first('GET', '/api/users')).body;
    expect(users.map(({ email }: { readonly email: string }) => email).sort()).toEqual([
      'first@acme.example',
      'second@acme.example',
    ]);
  });

  it('creates one account with one owner for twenty simultaneous people of a new domain', async () => {
    const callers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => visitor(many, `p${at}`, proved(`p${at}@rush.example`))),
    );
    const answers = await Promise.all(callers.map((call) => call('GET', '/api/users/current')));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 403)]);
    const owner = callers[answers.findIndex(({ status }) => status === 200)];
    expect((await owner?.('GET', '/api/users'))?.body).toHaveLength(20);
  });

  it('creates a separate account for each person at a public mail provider', async () => {
    const [kim, lee] = await Promise.all(
      ['kim', 'lee'].map((name) => visitor(many, name, proved(`${name}@gmail.com`))),
    );
    const [a] = (await kim?.('GET', '/api/accounts'))?.body ?? [];
    const [b] = (await lee?.('GET', '/api/accounts'))?.body ?? [];
    expect(a.id).not.toBe(b.id);
    expect([a.domain_category, b.domain]).toEqual(['', '']);
  });

  it('does not add a person with an unverified address to the account of its domain', async () => {
    const outsider = await visitor(many, 'stranger', { email: 'stranger@acme.example' });
    expect((await outsider('GET', '/api/users')).body).toHaveLength(1);
  });

  it('does not let an unverified address block its real owner', async () => {
    const squatter = await visitor(many, 'squatter', { email: 'vic@gmail.com', name: 'Vic' });
    expect((await squatter('GET', '/api/users/current')).body).toMatchObject({ role: 'owner', name: 'Vic', email: '' });
    const victim = await visitor(many, 'vic', proved('vic@gmail.com'));
    expect((await victim('GET', '/api/users/current')).body).toMatchObject({ role: 'owner', email: 'vic@gmail.com' });
  });

  it('ignores an identity row of a user that does not exist', async () => {
    const { database } = one.engine;
    const values = [one.account, provider.issuer, 'late'];
    await database.asOwner(async (run) => {
      await run(
        "insert into identities (account_id, issuer, subject, user_id, created_at) values ($1, $2, $3, 'gone', now())",
        values,
      );
    });
    const late = await visitor(one, 'late', proved('late@example.com'));
    expect((await late('GET', '/api/users/current')).status).toBe(200);
  });

  it("prefers the account of the address's domain to an invitation of another account", async () => {
    const rival = await visitor(many, 'rival', proved('rival@rival.example'));
    const body = { email: 'new@acme.example', name: 'New', role: 'admin', auto_groups: [], is_service_user: false };
    expect((await rival('POST', '/api/users', body)).status).toBe(200);
    const newUser = await visitor(many, 'new', proved('new@acme.example'));
    expect((await newUser('GET', '/api/users/current')).body.message).toBe('user is pending approval');
  });

  it('lets the person choose when several accounts claim the address', async () => {
    const body = {
      email: 'wanted@gmail.com',
      name: 'Wanted',
      role: 'auditor',
      auto_groups: [],
      is_service_user: false,
    };
    const rivals = [await visitor(many, 'rival-1', { name: 'One' }), await visitor(many, 'rival-2', { name: 'Two' })];
    const accounts = [];
    for (const rival of rivals) {
      accounts.push((await rival('GET', '/api/accounts')).body[0].id);
      await putUser(many, accounts.at(-1) ?? '', body);
    }
    const expected = await visitor(many, 'wanted', proved('wanted@gmail.com'));
    const asked = await expected('GET', '/api/users/current');
    expect([asked.status, asked.body.message]).toEqual([403, expect.stringContaining('?account=ID')]);
    for (const account of accounts) expect(asked.body.message).toContain(account);
    const chosen = await expected('GET', `/api/users/current?account=${accounts[1]}`);
    expect([chosen.status, chosen.body.role]).toEqual([200, 'auditor']);
    expect((await expected('GET', '/api/accounts')).body[0].id).toBe(accounts[1]);
    const other = await visitor(many, 'wanted-too', proved('wanted-too@gmail.com'));
    for (const account of accounts) await putUser(many, account, { ...body, email: 'wanted-too@gmail.com' });
    expect((await other('GET', '/api/users/current?account=nobodys')).status).toBe(403);
    expect((await other('GET', '/api/users/current?account=new')).body).toMatchObject({ role: 'owner' });
  });

  it('signs in to the named account when a dozen accounts claim the address, whatever the position', async () => {
    const body = { email: 'ada@gmail.com', name: 'Ada', role: 'auditor', auto_groups: [], is_service_user: false };
    const owners = await Promise.all(
      Array.from({ length: 13 }, (_, at) => visitor(many, `claims-${at}`, { name: `Claim ${at}` })),
    );
    const found = await Promise.all(owners.map(async (owner) => (await owner('GET', '/api/accounts')).body[0].id));
    for (const account of found) await putUser(many, account, body);
    const accounts: readonly string[] = [...found].sort();
    const ada = await visitor(many, 'ada', proved('ada@gmail.com'));
    const asked = await ada('GET', '/api/users/current');
    const last = accounts.at(-1) ?? '';
    expect([asked.status, asked.body.message.includes(last)]).toEqual([403, false]);
    const claimless = (await (await visitor(many, 'claims-nothing'))('GET', '/api/accounts')).body[0].id;
    expect((await ada('GET', `/api/users/current?account=${claimless}`)).status).toBe(403);
    const chosen = await ada('GET', `/api/users/current?account=${last}`);
    expect([chosen.status, chosen.body.role]).toEqual([200, 'auditor']);
    expect((await ada('GET', '/api/accounts')).body[0].id).toBe(last);
  });

  it('ignores a claim on an unverified address after 30 days', async () => {
    const squatter = await visitor(many, 'squatter-of-old', { name: 'Old' });
    const account = (await squatter('GET', '/api/accounts')).body[0].id;
    const body = { email: 'late@gmail.com', name: 'Late', role: 'user', auto_groups: [], is_service_user: false };
    await putUser(many, account, body, '2020-01-01T00:00:00.000Z');
    const late = await visitor(many, 'late', proved('late@gmail.com'));
    expect((await late('GET', '/api/users/current')).body).toMatchObject({ role: 'owner', email: 'late@gmail.com' });
  });

  it('asks the person also when one account claims the address, and follows the choice', async () => {
    const owner = await visitor(many, 'host', proved('host@host.example'));
    const account = (await owner('GET', '/api/accounts')).body[0].id;
    const invite = async (email: string) => {
      const body = { email, name: 'Guest', role: 'auditor', auto_groups: [], is_service_user: false };
      const made = await owner('POST', '/api/users', body);
      expect(made.status).toBe(200);
    };
    await invite('guest@gmail.com');
    const invitee = await visitor(many, 'guest', proved('guest@gmail.com'));
    const asked = await invitee('GET', '/api/users/current');
    expect([asked.status, asked.body.message]).toEqual([403, expect.stringContaining(`guest@gmail.com (${account})`)]);
    expect((await invitee('GET', `/api/users/current?account=${account}`)).body).toMatchObject({ role: 'auditor' });
    expect((await invitee('GET', '/api/accounts')).body[0].domain).toBe('host.example');
    // A claim of another account to the address does not prevent a person from founding an account for their own
    // organisation.
    await invite('boss@newcorp.example');
    const boss = await visitor(many, 'boss', proved('boss@newcorp.example'));
    expect((await boss('GET', '/api/accounts')).status).toBe(403);
    expect((await boss('GET', '/api/users/current?account=new')).body).toMatchObject({ role: 'owner' });
    expect((await boss('GET', '/api/accounts')).body[0].domain).toBe('newcorp.example');
  });
});

describe('a person whose token has a faulty claim', () => {
  it.each([
    ['is no address', 'boss at acme.example'],
    ['has two at signs', 'x@y@acme.example'],
    ['has a host without a dot', 'root@localhost'],
    ['is too long', `${'x'.repeat(250)}@acme.example`],
    ['contains markup', '<b>@acme.example'],
  ])('has no address and no domain when the e-mail %s', async (what, email) => {
    const odd = await visitor(many, `odd ${what}`, { email, email_verified: true, name: 'Odd' });
    expect((await odd('GET', '/api/users/current')).body).toMatchObject({ email: '', name: 'Odd', role: 'owner' });
    expect((await odd('GET', '/api/accounts')).body[0].domain).toBe('');
  });

  it.each(['a\0b', 'a\ud800b'])(
    'signs in without the characters of the name %j that cannot be stored',
    async (name) => {
      const odd = await visitor(many, `named ${JSON.stringify(name)}`, { name });
      expect((await odd('GET', '/api/users/current')).body).toMatchObject({ name: 'ab', role: 'owner' });
    },
  );

  it.each([{ sub: 'a\0' }, { sub: 'a\ud800' }, { email: 'a\0@acme.example' }])(
    'is refused with 401 for %j',
    async (claims) => {
      const refused = await (await visitor(many, 'odd', claims))('GET', '/api/users/current');
      expect([refused.status, refused.body.message]).toEqual([401, expect.stringContaining('surrogate pair')]);
    },
  );
});
