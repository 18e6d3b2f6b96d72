import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPersonAuthenticator } from '../../src/features/auth/authenticate.ts';
import { createExternalIssuer } from '../../src/features/auth/issuers.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { membersIn } from '../../src/model/state/members.ts';
import { doc } from '../api/documents.ts';
import { type Answer, type TestApi, testApi } from '../api/setup.ts';
import { plainOutbound } from '../setup/outbound.ts';
import { addPeers } from '../setup/peers.ts';
import { audience, startProvider, type TestProvider } from './provider.ts';

let provider: TestProvider;
let api: TestApi;

beforeAll(async () => {
  provider = await startProvider();
  api = await testApi('postgres', {
    people: (engine) =>
      createPersonAuthenticator({
        ...{ engine, singleAccount: true, now: Date.now },
        issuers: [createExternalIssuer({ issuer: provider.issuer, outbound: plainOutbound, audience: [audience] })],
      }),
  });
  await setSettings({ jwt_groups_enabled: true, jwt_groups_claim_name: 'roles', groups_propagation_enabled: false });
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

async function setSettings(change: JsonObject): Promise<void> {
  const [account] = (await api.call('GET', '/api/accounts')).body;
  const { extra, ...settings } = account.settings;
  const body = { settings: { ...settings, ...change, extra: { ...extra, user_approval_required: false } } };
  expect((await api.call('PUT', `/api/accounts/${account.id}`, body)).status).toBe(200);
}

/** Returns the current user, after a request with a token whose `roles` claim names these groups. */
async function come(subject: string, roles: unknown): Promise<Answer> {
  const claims = { sub: subject, email: `${subject}@example.com`, email_verified: true, roles };
  const authorization = `Bearer ${await provider.sign(claims)}`;
  return api.call('GET', '/api/users/current', undefined, { authorization });
}

interface Shown {
  readonly id: string;
  readonly name: string;
  readonly issued: string;
  readonly peers: readonly { readonly id: string }[];
}

const groups = async (): Promise<readonly Shown[]> => (await api.call('GET', '/api/groups')).body;
const named = async (name: string) => (await groups()).filter((group) => group.name === name);
const namesOf = async ({ body }: Answer) => {
  const all = new Map((await groups()).map(({ id, name }) => [id, name]));
  return body.auto_groups.map((id: string) => all.get(id)).sort();
};

/** Returns the origins of the peer's membership in the group of this name. */
async function origins(name: string, peer: string): Promise<unknown> {
  const state = await api.engine.snapshots.fresh(api.account);
  const group = state.ofKind('Group').find((candidate) => candidate.name === name);
  return membersIn(group, 'peers').get(peer);
}

/** Adds a peer that this user enrolled. Returns its id. */
async function peerOf(user: string, label: string): Promise<string> {
  const [id = ''] = await addPeers(api.engine, api.account, [label], { user_id: user });
  return id;
}

const codes = async (count: number) =>
  (await api.call('GET', '/api/events/audit')).body
    .slice(0, count)
    .map((event: { readonly activity_code: string }) => event.activity_code)
    .sort();

describe('groups named in a token', () => {
  it('are created once, assigned to the user, and removed again', async () => {
    const ana = await come('ana', ['dev', 'ops', 'dev', ' ', 7]);
    expect(await namesOf(await come('ana', ['dev', 'ops']))).toEqual(['dev', 'ops']);
    expect((await groups()).map(({ name, issued }) => [name, issued]).sort()).toEqual([
      ['All', 'api'],
      ['dev', 'jwt'],
      ['ops', 'jwt'],
    ]);
    expect(ana.body.email).toBe('ana@example.com');
    expect(await namesOf(await come('bob', 'ops'))).toEqual(['ops']);
    expect(await named('ops')).toHaveLength(1);
    expect(await namesOf(await come('ana', ['ops']))).toEqual(['ops']);
    expect(await codes(1)).toEqual(['user.group.delete']);
    expect(await namesOf(await come('ana', undefined))).toEqual([]);
  });

  it('cause no revision while they stay unchanged', async () => {
    await come('cleo', ['dev', 'ops']);
    const revision = await api.revision();
    for (const roles of [
      ['ops', 'dev'],
      ['dev', 'ops'],
    ])
      await come('cleo', roles);
    expect(await api.revision()).toBe(revision);
  });

  it('are separate from groups made by people, even of the same name', async () => {
    const own = await api.group('dev');
    const dan = (await come('dan', [])).body;
    const body = { role: 'user', auto_groups: [own], is_blocked: false };
    await api.call('PUT', `/api/users/${dan.id}`, body);
    const now = (await come('dan', ['dev'])).body;
    expect(now.auto_groups).toHaveLength(2);
    expect(now.auto_groups).toContain(own);
    expect((await come('dan', [])).body.auto_groups).toEqual([own]);
  });

  it('are kept when a document states other groups of the user', async () => {
    const eli = (await come('eli', ['dev'])).body;
    const text = [
      doc('Group', 'staff', 'name: staff'),
      doc('User', 'eli', 'email: eli@example.com\nname: eli@example.com\nrole: user\nauto_groups: [staff]'),
    ].join('---\n');
    const applied = await api.call('POST', '/api/config/apply?adopt=take', {
      source: 'team',
      files: [{ path: 'a.yaml', text }],
    });
    expect([applied.status, applied.body.problems]).toEqual([200, undefined]);
    expect(await namesOf(await come('eli', ['dev']))).toEqual(['dev', 'staff']);
    expect(await namesOf(await come('eli', []))).toEqual(['staff']);
    expect((await come('eli', [])).body.id).toBe(eli.id);
    const revision = await api.revision();
    await api.call('POST', '/api/config/apply', { source: 'team', files: [{ path: 'a.yaml', text }] });
    expect(await api.revision()).toBe(revision);
  });

  it('refuse the sign-in, and create no user, when none of them is in jwt_allow_groups', async () => {
    await setSettings({ jwt_allow_groups: ['dev', 'board'] });
    const refused = await come('zoe', ['ops']);
    expect([refused.status, refused.body.message]).toEqual([401, 'token invalid']);
    const users = (await api.call('GET', '/api/users')).body;
    expect(users.filter(({ email }: { readonly email: string }) => email.startsWith('zoe'))).toEqual([]);
    expect((await come('ana', ['ops'])).status).toBe(401);
    expect((await come('ana', ['ops', 'board'])).status).toBe(200);
    expect((await api.call('GET', '/api/groups')).status).toBe(200);
    await setSettings({ jwt_allow_groups: [] });
  });

  it('are ignored when their names have characters that cannot be stored', async () => {
    const user = await come('nul', ['a\0b', 'a\ud800b', '\0', 'storable']);
    expect([user.status, await namesOf(user)]).toEqual([200, ['storable']]);
  });
});

describe('a caller who changes jwt_allow_groups', () => {
  const asOwner = async (roles: unknown) => {
    const claims = { sub: 'ola', email: 'ola@example.com', email_verified: true, roles };
    return { authorization: `Bearer ${await provider.sign(claims)}` };
  };

  it('cannot lock themselves out, neither by a request nor by a document', async () => {
    const { id } = (await come('ola', ['dev'])).body;
    await api.call('PUT', `/api/users/${id}`, { role: 'owner', auto_groups: [], is_blocked: false });
    const [account] = (await api.call('GET', '/api/accounts')).body;
    const put = async (change: JsonObject, roles: unknown = ['dev']) =>
      api.call(
        'PUT',
        `/api/accounts/${account.id}`,
        { settings: { ...account.settings, ...change } },
        await asOwner(roles),
      );
    const locked = await put({ jwt_allow_groups: ['board'] });
    expect([locked.status, locked.body.problems]).toMatchObject([
      422,
      [{ code: 'locks_out_caller', path: '/settings/jwt_allow_groups', message: expect.stringContaining('`roles`') }],
    ]);
    expect((await put({ jwt_allow_groups: ['dev'], jwt_groups_claim_name: 'teams' })).status).toBe(422);
    const text = doc('Account', 'account', 'settings: {jwt_allow_groups: [board]}');
    const body = { source: 'team', files: [{ path: 'a.yaml', text }] };
    const applied = await api.call('POST', '/api/config/apply?adopt=take', body, await asOwner(['dev']));
    expect([applied.status, applied.body.problems[0].code]).toEqual([422, 'locks_out_caller']);
    expect((await api.call('GET', '/api/accounts')).body).toEqual([account]);

    expect((await put({ jwt_allow_groups: ['dev', 'board'] })).status).toBe(200);
    expect((await put({ jwt_allow_groups: ['board'] }, ['dev', 'board'])).status).toBe(200);
    const revisions = (await api.call('GET', '/api/config/revisions?limit=1')).body;
    expect(JSON.stringify(revisions)).not.toContain('tokenLists');
    await setSettings({ jwt_allow_groups: [] });
  });

  it('may exclude their own groups with a personal access token, which can undo the change', async () => {
    await setSettings({ jwt_allow_groups: ['board'] });
    expect((await come('ola', ['dev'])).status).toBe(401);
    await setSettings({ jwt_allow_groups: [] });
    expect((await come('ola', ['dev'])).status).toBe(200);
  });
});

describe('auto_groups of a user', () => {
  it("reach the user's peers when the account enables propagation, and changes follow", async () => {
    const fay = (await come('fay', ['dev', 'ops'])).body;
    const laptop = await peerOf(fay.id, 'fay-laptop');
    expect(await origins('dev', laptop)).toBeUndefined();
    await setSettings({ groups_propagation_enabled: true });
    const provided = async (name: string) => {
      const state = await api.engine.snapshots.fresh(api.account);
      const group = state.ofKind('Group').find((one) => one.name === name && one.derived['issued'] === 'jwt');
      return membersIn(group, 'peers').get(laptop);
    };
    expect([await provided('dev'), await provided('ops')]).toEqual([['idp'], ['idp']]);
    const before = await api.revision();
    await come('fay', ['ops', 'night']);
    expect([await provided('dev'), await provided('ops'), await provided('night')]).toEqual([
      undefined,
      ['idp'],
      ['idp'],
    ]);
    expect(await api.revision()).toBe(before + 1);
    expect(await codes(6)).toEqual(expect.arrayContaining(['peer.group.add', 'peer.group.delete', 'user.group.add']));
  });

  it("reach the user's peers by the API too, and are kept apart from memberships set otherwise", async () => {
    const gil = (await come('gil', [])).body;
    const phone = await peerOf(gil.id, 'gil-phone');
    const group = await api.group('phones', [phone]);
    const put = (auto_groups: readonly string[]) =>
      api.call('PUT', `/api/users/${gil.id}`, { role: 'user', auto_groups, is_blocked: false });
    await put([group]);
    expect(await origins('phones', phone)).toEqual(['api', 'enrolment']);
    await put([]);
    expect(await origins('phones', phone)).toEqual(['api']);
  });

  it('reach the peers of both users when two users change in one plan', async () => {
    const users = [(await come('hal', [])).body, (await come('ivy', [])).body];
    const peers = await Promise.all(users.map(({ id, name }) => peerOf(id, `${name.split('@')[0]}-pc`)));
    const text = [
      doc('Group', 'pcs', 'name: pcs'),
      ...users.map(({ email, name }, at) =>
        doc('User', `pc-${at}`, `email: ${email}\nname: ${name}\nrole: user\nauto_groups: [pcs]`),
      ),
    ].join('---\n');
    const files = [{ path: 'b.yaml', text }];
    const applied = await api.call('POST', '/api/config/apply?adopt=take', { source: 'pcs', files });
    expect([applied.status, applied.body.problems]).toEqual([200, undefined]);
    expect(await Promise.all(peers.map((peer) => origins('pcs', peer)))).toEqual([['enrolment'], ['enrolment']]);
  });
});
