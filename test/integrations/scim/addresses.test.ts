import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/lib/json.ts';
import { sharedApi } from '../../api/setup.ts';
import { rowsOf } from '../../commit/office.ts';
import { present } from '../../setup/present.ts';
import { person } from './client.ts';
import { integrate, openScim } from './scene.ts';

/** Returns the address of a person, and the one that an identity provider tries to give to that person. */
const addressesOf = (name: string) => ({ theirs: `${name}@example.com`, own: `mallory-${name}@evil.example.com` });

/** Requests with which an identity provider may try to give a user another address. */
function attemptsOn(name: string): Readonly<Record<string, readonly [method: string, body: JsonObject]>> {
  const { theirs, own } = addressesOf(name);
  return {
    'a PUT': ['PUT', person(own, { externalId: name })],
    'a PUT of the addresses alone': ['PUT', person(theirs, { emails: [{ value: own, type: 'work', primary: true }] })],
    'a PATCH of the address': ['PATCH', patchOf({ op: 'replace', path: 'emails[type eq "work"].value', value: own })],
    'a PATCH of the list': [
      'PATCH',
      patchOf({ op: 'Replace', path: 'emails', value: [{ value: own, primary: true }] }),
    ],
    'a PATCH without a path': ['PATCH', patchOf({ op: 'replace', value: { emails: [{ value: own, primary: true }] } })],
    'a PATCH beside others': [
      'PATCH',
      patchOf(
        { op: 'replace', path: 'displayName', value: 'Mallory' },
        { op: 'replace', path: 'userName', value: own },
        { op: 'replace', path: 'emails', value: [{ value: own }] },
      ),
    ],
  };
}

/** Returns the body of a POST that claims the sign-in of a person. */
const claimOf = (name: string) => person(addressesOf(name).own, { externalId: name });

function patchOf(...Operations: readonly JsonObject[]): JsonObject {
  return { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations };
}

type Api = Awaited<ReturnType<typeof openScim>>['api'];
type Provider = Awaited<ReturnType<typeof integrate>>;

const makeOwner = (api: Api, id: string) =>
  api.call('PUT', `/api/users/${id}`, { role: 'owner', auto_groups: [], is_blocked: false });

/** Ways to sign in that depend on an address, each as the SQL that sets it up for a person. */
const waysIn = {
  'a password': (api: Api, id: string, name: string) =>
    `insert into credentials (account_id, email, user_id, password_hash, changed_at)
      values ('${api.account}', '${addressesOf(name).theirs}', '${id}', 'x', now()) returning 1`,
  'a sign-in of their own': (api: Api, id: string, name: string) =>
    `insert into identities (account_id, issuer, subject, user_id, created_at)
      values ('${api.account}', 'https://id.example.com', 'staff|${name}', '${id}', now()) returning 1`,
};

const { theirs } = addressesOf('ana');
const ownersKeep =
  'ana is an owner of the account and stays: ana keeps the e-mail address ana@example.com, because an identity provider cannot change the address of an owner; correct it at the provider';
const usersKeep = (name: string) =>
  `the e-mail address ${addressesOf(name).theirs}: the user already has a password or an identity, so ${addressesOf(name).own} is not imported`;

/** What an attempt led to: its status, the users before and after it, and the reason that the log must give. */
interface Outcome {
  readonly method: string;
  readonly status: number;
  readonly before: readonly unknown[];
  readonly after: readonly unknown[];
  readonly kept: string;
}

/** Returns the id and the address of each user. */
async function usersOf(api: Api): Promise<readonly unknown[]> {
  return (await api.call('GET', '/api/users')).body.map((user: JsonObject) => [user['id'], user['email']]).sort();
}

describe('an attempt of an identity provider to change the address of an owner', () => {
  const server = sharedApi();
  let provider: Provider;
  let id = '';
  beforeAll(async () => {
    provider = await integrate(server());
    id = await provider.addUser(theirs, { externalId: 'ana' });
    await makeOwner(server(), id);
  });

  it.each(Object.entries(attemptsOn('ana')))(
    'by %s is refused with a sentence, and changes nothing',
    async (_, [method, body]) => {
      const [api, { scim }] = [server(), provider];
      const seen = async () => [
        (await scim('GET', `/Users/${id}`)).body,
        (await api.call('GET', '/api/users')).body,
        await rowsOf(api.engine.database, `select max(revision) from revisions where account_id = '${api.account}'`),
      ];
      const before = await seen();
      const { status, body: answer } = await scim(method, `/Users/${id}`, body);
      expect([status, answer.detail]).toEqual([403, ownersKeep]);
      expect(await seen()).toEqual(before);
    },
  );

  it('by a POST that claims the sign-in of the owner is refused too', async () => {
    const { api, scim } = await openScim();
    const body = { email: theirs, name: 'ana', role: 'admin', auto_groups: [], is_service_user: false };
    const { id } = (await api.call('POST', '/api/users', body)).body;
    await makeOwner(api, id);
    await rowsOf(api.engine.database, waysIn['a sign-in of their own'](api, id, 'ana'));
    const before = (await api.call('GET', '/api/users')).body;
    const { status, body: answer } = await scim('POST', '/Users', claimOf('ana'));
    expect([status, answer.detail]).toEqual([403, ownersKeep]);
    expect((await api.call('GET', '/api/users')).body).toEqual(before);
  });
});

describe.each(Object.entries(waysIn))(
  'an attempt of an identity provider to change the address of a user with %s',
  (_, wayIn) => {
    const names = [...Object.keys(attemptsOn('')), 'a POST that claims the sign-in'];
    const api = sharedApi();
    const outcomes = new Map<string, Outcome>();

    // All attempts are made before the log is read, because the log is written once a second.
    beforeAll(async () => {
      const provider = await integrate(api());
      for (const [nth, name] of names.entries()) outcomes.set(name, await attempt(provider, name, `user-${nth}`));
    });

    async function attempt({ scim, addUser }: Provider, name: string, user: string): Promise<Outcome> {
      const id = await addUser(addressesOf(user).theirs, { externalId: user });
      await rowsOf(api().engine.database, wayIn(api(), id, user));
      const before = await usersOf(api());
      const [method, body] = attemptsOn(user)[name] ?? ['POST', claimOf(user)];
      const { status } = await scim(method, method === 'POST' ? '/Users' : `/Users/${id}`, body);
      return { method, status, before, after: await usersOf(api()), kept: usersKeep(user) };
    }

    it.each(names)('by %s does not change it, and the log gives the reason', async (name) => {
      const { method, status, before, after, kept } = present(outcomes.get(name));
      expect(status).toBeOneOf(method === 'POST' ? [409] : [200]);
      expect(after).toEqual(before);
      if (method === 'POST') return;
      const logs = async () => (await api().call('GET', '/api/integrations/scim-idp/1/logs')).body;
      await expect
        .poll(logs)
        .toContainEqual(expect.objectContaining({ level: 'warning', message: expect.stringContaining(kept) }));
    });
  },
);
