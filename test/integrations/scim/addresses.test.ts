import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/lib/json.ts';
import { rowsOf } from '../../commit/office.ts';
import { person } from './client.ts';
import { openScim } from './scene.ts';

const theirs = 'ana@example.com';
const own = 'mallory@evil.example.com';

/** Requests with which an identity provider may try to give a user another address. */
const attempts: Readonly<Record<string, readonly [method: string, body: JsonObject]>> = {
  'a PUT': ['PUT', person(own, { externalId: 'ana' })],
  'a PUT of the addresses alone': ['PUT', person(theirs, { emails: [{ value: own, type: 'work', primary: true }] })],
  'a PATCH of the address': ['PATCH', patchOf({ op: 'replace', path: 'emails[type eq "work"].value', value: own })],
  'a PATCH of the list': ['PATCH', patchOf({ op: 'Replace', path: 'emails', value: [{ value: own, primary: true }] })],
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

function patchOf(...Operations: readonly JsonObject[]): JsonObject {
  return { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations };
}

type Api = Awaited<ReturnType<typeof openScim>>['api'];

const makeOwner = (api: Api, id: string) =>
  api.call('PUT', `/api/users/${id}`, { role: 'owner', auto_groups: [], is_blocked: false });

/** Ways to sign in that depend on an address, each as the SQL that sets it up. */
const waysIn = {
  'a password': (api: Api, id: string) =>
    `insert into credentials (account_id, email, user_id, password_hash, changed_at)
      values ('${api.account}', '${theirs}', '${id}', 'x', now()) returning 1`,
  'a sign-in of their own': (api: Api, id: string) =>
    `insert into identities (account_id, issuer, subject, user_id, created_at)
      values ('${api.account}', 'https://id.example.com', 'staff|ana', '${id}', now()) returning 1`,
};

const ownersKeep =
  'ana is an owner of the account and stays: ana keeps the e-mail address ana@example.com, because an identity provider cannot change the address of an owner; correct it at the provider';
const usersKeep =
  'the e-mail address ana@example.com: the user already has a password or an identity, so mallory@evil.example.com is not imported';

describe('an attempt of an identity provider to change the address of an owner', () => {
  it.each(Object.entries(attempts))(
    'by %s is refused with a sentence, and changes nothing',
    async (_, [method, body]) => {
      const { api, scim, addUser } = await openScim();
      const id = await addUser(theirs, { externalId: 'ana' });
      await makeOwner(api, id);
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
    await rowsOf(api.engine.database, waysIn['a sign-in of their own'](api, id));
    const before = (await api.call('GET', '/api/users')).body;
    const { status, body: answer } = await scim('POST', '/Users', person(own, { externalId: 'ana' }));
    expect([status, answer.detail]).toEqual([403, ownersKeep]);
    expect((await api.call('GET', '/api/users')).body).toEqual(before);
  });
});

describe.each(Object.entries(waysIn))(
  'an attempt of an identity provider to change the address of a user with %s',
  (_, wayIn) => {
    const cases = Object.entries({
      ...attempts,
      'a POST that claims the sign-in': ['POST', person(own, { externalId: 'ana' })],
    });

    it.each(cases)('by %s does not change it, and the log gives the reason', async (_name, [method, body]) => {
      const { api, scim, addUser } = await openScim();
      const id = await addUser(theirs, { externalId: 'ana' });
      await rowsOf(api.engine.database, wayIn(api, id));
      const users = async () =>
        (await api.call('GET', '/api/users')).body.map((user: JsonObject) => [user['id'], user['email']]).sort();
      const before = await users();
      const { status } = await scim(String(method), method === 'POST' ? '/Users' : `/Users/${id}`, body as JsonObject);
      expect(status).toBeOneOf(method === 'POST' ? [409] : [200]);
      expect(await users()).toEqual(before);
      if (method === 'POST') return;
      const logs = async () => (await api.call('GET', '/api/integrations/scim-idp/1/logs')).body;
      await expect
        .poll(logs)
        .toContainEqual(expect.objectContaining({ level: 'warning', message: expect.stringContaining(usersKeep) }));
    });
  },
);
