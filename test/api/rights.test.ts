import { describe, expect, it } from 'vitest';
import type { Call, Engine } from '../../src/commit/engine.ts';
import { deleteAccount } from '../../src/features/accounts/delete-account.ts';
import { commitAcrossAccounts } from '../../src/features/accounts/tenants/steps.ts';
import { subscribeTenant } from '../../src/features/accounts/tenants/tenants.ts';
import { addToken } from '../../src/features/accounts/tokens.ts';
import { acceptInvite } from '../../src/features/auth/invites.ts';
import { makeMachineKeys, tunnelKeyOf } from '../../src/features/peers/enrolment/client.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { contextOf } from '../../src/objects/objects.ts';
import { planCreate } from '../../src/plan/requests/requests.ts';
import { callAs, invitee, person } from './people.ts';
import { sharedApi, type TestApi, testApi } from './setup.ts';

const tenants = '/api/integrations/msp/tenants';

/** Returns an engine that does `work` before each `mutateTogether` is planned. */
function interrupted(engine: Engine, work: () => Promise<unknown>): Engine {
  const mutateTogether: Engine['committer']['mutateTogether'] = async (mutation) => {
    await work();
    return engine.committer.mutateTogether(mutation);
  };
  return { ...engine, committer: { ...engine.committer, mutateTogether } };
}

async function callOf({ engine, account }: TestApi, id: string): Promise<Call> {
  const { revision } = await engine.snapshots.fresh(account);
  return { account, revision, actor: { type: 'user', id, name: id } };
}

async function someone(own: TestApi, role: string): Promise<string> {
  const { id } = (await own.call('POST', '/api/users', person({ role: role === 'owner' ? 'admin' : role }))).body;
  if (role === 'owner') await own.call('PUT', `/api/users/${id}`, { role, auto_groups: [], is_blocked: false });
  return id;
}

describe('a change by a caller who loses the right meanwhile', () => {
  it('is refused: deletion of an account by a former owner', async () => {
    await using own = await testApi();
    const me = (await own.call('GET', '/api/users/current')).body.id;
    const next = await someone(own, 'admin');
    const engine = interrupted(own.engine, async () => {
      const owner = { role: 'owner', auto_groups: [], is_blocked: false };
      expect((await own.call('PUT', `/api/users/${next}`, owner)).status).toBe(200);
    });
    await expect(deleteAccount(engine, await callOf(own, me), own.account)).rejects.toThrow('only an owner');
    expect((await own.call('GET', '/api/users/current')).body).toMatchObject({ id: me, role: 'admin' });
  });

  it('is refused: change of a tenant by a user who was blocked or got another role', async () => {
    await using own = await testApi();
    const made = (await own.call('POST', tenants, { name: 'T', domain: 'late.example.com', groups: [] })).body;
    for (const change of [{ role: 'user' }, { is_blocked: true }]) {
      const id = await someone(own, 'admin');
      const engine = interrupted(own.engine, async () => {
        const body = { role: 'admin', auto_groups: [], is_blocked: false, ...change };
        expect((await own.call('PUT', `/api/users/${id}`, body)).status).toBe(200);
      });
      const work = subscribeTenant(engine, await callOf(own, id), made.id, 'price_1');
      await expect(work).rejects.toThrow(/may not update|blocked/);
    }
  });

  it('is refused: token for a service user by a former admin', async () => {
    await using own = await testApi();
    const admin = await someone(own, 'admin');
    const robot = (await own.call('POST', '/api/users', person({ email: '', is_service_user: true, role: 'admin' })))
      .body;
    const caller = await callOf(own, admin);
    const make = () => ({ value: 'nbp_x', hash: 'x' });
    const body = { name: 'CI', expires_in: 1, plan_only: false };
    expect(await addToken(own.engine, caller, robot.id, body, make)).toMatchObject({ plain_token: 'nbp_x' });
    const { database } = own.engine;
    let isDemoted = false;
    const inAccount: typeof database.inAccount = async (account, statements, options) => {
      const demote = options?.write === true && !isDemoted;
      isDemoted ||= demote;
      const user = { role: 'user', auto_groups: [], is_blocked: false };
      if (demote) expect((await own.call('PUT', `/api/users/${admin}`, user)).status).toBe(200);
      return database.inAccount(account, statements, options);
    };
    const engine = { ...own.engine, database: { ...database, inAccount } };
    const late = addToken(engine, caller, robot.id, body, () => ({ value: 'nbp_y', hash: 'y' }));
    await expect(late).rejects.toThrow('only owners and admins');
    expect((await own.call('GET', `/api/users/${robot.id}/tokens`)).body).toHaveLength(1);
  });

  it('is refused: acceptance of an invite that a former admin sent', async () => {
    await using own = await testApi();
    const sender = await someone(own, 'admin');
    const body = invitee();
    const { invite_token: token } = (await (await callAs(own, sender))('POST', '/api/users/invites', body)).body;
    const engine = interrupted(own.engine, async () => {
      const user = { role: 'user', auto_groups: [], is_blocked: false };
      expect((await own.call('PUT', `/api/users/${sender}`, user)).status).toBe(200);
    });
    const password = 'correct horse battery';
    await expect(acceptInvite(engine, token, { password })).rejects.toThrow('may no longer invite users');
    const emails = (await own.call('GET', '/api/users')).body.map(({ email }: JsonObject) => email);
    expect(emails).not.toContain(body['email']);
  });
});

describe('grants of the owner role in tenants', () => {
  const api = sharedApi();

  it('are refused to admins, through a tenant as well as through a user or an invite', async () => {
    const { call } = api();
    const [lords, helpers] = [await api().group('lords'), await api().group('helpers')];
    const admin = await callAs(api(), await someone(api(), 'admin'));
    const body = (groups: readonly JsonObject[]) => ({ name: 'T', domain: 'lords.example.com', groups: [...groups] });
    const asOwner = [{ id: lords, role: 'owner' }];
    const refused = await admin('POST', tenants, body(asOwner));
    expect([refused.status, refused.body.problems]).toMatchObject([403, [{ code: 'not_allowed', path: '/groups' }]]);
    const { id } = (await admin('POST', tenants, body([{ id: helpers, role: 'admin' }]))).body;
    expect((await admin('PUT', `${tenants}/${id}`, body(asOwner))).status).toBe(403);
    expect((await call('PUT', `${tenants}/${id}`, body(asOwner))).status).toBe(200);
    // An admin may resend values that are already stored.
    expect((await admin('PUT', `${tenants}/${id}`, { ...body(asOwner), name: 'Renamed' })).status).toBe(200);

    const own = (await admin('GET', '/api/users/current')).body.id;
    const join = { role: 'admin', auto_groups: [lords], is_blocked: false };
    expect((await admin('PUT', `/api/users/${own}`, join)).status).toBe(403);
    expect((await admin('POST', '/api/users', person({ auto_groups: [lords] }))).status).toBe(403);
    expect((await admin('POST', '/api/users/invites', invitee({ auto_groups: [lords] }))).status).toBe(403);
    expect((await admin('PUT', `/api/users/${own}`, { ...join, auto_groups: [helpers] })).status).toBe(200);
    expect((await admin('DELETE', `/api/accounts/${id}?account=${id}`)).status).toBe(403);
    expect((await call('PUT', `/api/users/${own}`, join)).status).toBe(200);
    expect((await admin('DELETE', `/api/accounts/${id}?account=${id}`)).status).toBe(200);
  });
});

describe('enforced access tests', () => {
  const api = sharedApi();

  it('E151 refuse violating changes of several accounts at once, and violating temporary access', async () => {
    const { call, engine, account } = api();
    const [one = '', other = ''] = await api().peers('one', 'other');
    const [from, to] = [await api().group('from', [one]), await api().group('to', [other])];
    for (const { id } of (await call('GET', '/api/policies')).body) await call('DELETE', `/api/policies/${id}`);
    const text = (name: string, source: string, end: string) =>
      `apiVersion: heddle.dev/v1\nkind: AccessTest\nmetadata: {name: ${name}}\nspec: {from: "id:${source}", to: "id:${end}", protocol: tcp, port: "22", expect: deny, enforce: always}\n`;
    const all = (await call('GET', '/api/groups?name=All')).body[0].id;
    const files = [{ path: 't.yaml', text: `${text('apart', from, to)}---\n${text('closed', all, to)}` }];
    const applied = await call('POST', '/api/config/apply', { source: 'tests', files });
    expect(applied.status).toBe(200);

    const me = (await call('GET', '/api/users/current')).body.id;
    const caller = await callOf(api(), me);
    const rule = { name: 'r', enabled: true, action: 'accept', bidirectional: false, protocol: 'all' };
    const policy = { name: 'P', enabled: true, rules: [{ ...rule, sources: [from], destinations: [to] }] };
    const work = commitAcrossAccounts(engine, caller, {
      accounts: [account],
      propose: (stateOf) => ({
        [account]: planCreate(
          contextOf(engine, caller, stateOf(account), { strict: false }),
          engine.registry.get('Policy'),
          policy,
        ),
      }),
    });
    await expect(work).rejects.toThrow('expects tcp/22');

    const asked = { name: 'browser', wg_pub_key: tunnelKeyOf(makeMachineKeys()), rules: ['tcp/22'] };
    const refused = await call('POST', `/api/peers/${other}/temporary-access`, asked);
    expect([refused.status, refused.body.problems]).toMatchObject([422, [{ code: 'access_test_failed' }]]);
    const allowed = await call('POST', `/api/peers/${other}/temporary-access`, { ...asked, rules: ['tcp/443'] });
    expect(allowed.status).toBe(200);
  });
});
