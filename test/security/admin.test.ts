import { beforeAll, describe, expect, it } from 'vitest';
import { statement } from '../../src/db/builder.ts';
import { noChange } from '../../src/features/integrations/provisioning/change.ts';
import { provision } from '../../src/features/integrations/provisioning/provision.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { doc } from '../api/documents.ts';
import { callAs, callAsAnonymous, invitee, person } from '../api/people.ts';
import { problemsOf } from '../api/problems.ts';
import { type Answer, type Call, sharedApi, type TestApi, testApi } from '../api/setup.ts';
import { patch, scimClient, person as scimPerson } from '../integrations/scim/client.ts';
import { integrate } from '../integrations/scim/scene.ts';
import { present } from '../setup/present.ts';

// The tests act as an admin who is not an owner, in an account with a tenant. The users of one group own that tenant.

const api = sharedApi();
const integrations = '/api/integrations/scim-idp';
const directories = '/api/integrations/directory-idp';
const tenants = '/api/integrations/msp/tenants';
const password = 'correct horse';
let admin: Call;
let adminId: string;
let adminEmail: string;
let owners: string;
let tenant: string;

const statusOf = ({ status, body }: Answer) => [status, status === 200 ? '' : String(body.message)];
const refused = (why: string) => [403, expect.stringContaining(why)];

beforeAll(async () => {
  owners = await api().group('tenant owners');
  tenant = (await makeTenant('tenant.example.com', owners))['id'] as string;
  const body = person({ role: 'admin' });
  adminId = (await api().call('POST', '/api/users', body)).body.id;
  adminEmail = body.email;
  admin = await callAs(api(), adminId);
});

const makeTenant = (domain: string, group: string) => makeTenantOf(api(), domain, group);

async function makeTenantOf({ call }: TestApi, domain: string, group: string): Promise<JsonObject> {
  const made = await call('POST', tenants, { name: domain, domain, groups: [{ id: group, role: 'owner' }] });
  if (made.status !== 200) throw new Error(`${domain}: ${JSON.stringify(made.body)}`);
  return made.body;
}

const createUser = async (body: JsonObject) => (await api().call('POST', '/api/users', body)).body.id as string;
const createServiceUser = (groups: readonly string[]) =>
  createUser({ name: 'automation', role: 'user', auto_groups: groups, is_service_user: true });
const makeToken = (call: Call, user: string) =>
  call('POST', `/api/users/${user}/tokens`, { name: 'token', expires_in: 1 });

it('an admin whom the role matrix stops is sent to an owner, and a user to an admin', async () => {
  const [{ id = '' }] = (await admin('GET', '/api/accounts')).body;
  expect(statusOf(await admin('DELETE', `/api/accounts/${id}`))).toEqual(refused('; ask an owner of the account'));
  const user = await callAs(api(), await createUser(person({ role: 'user' })));
  expect(statusOf(await user('POST', '/api/groups', { name: 'x' }))).toEqual(refused('; ask an admin of the account'));
});

describe('an admin, through credentials of users who own a tenant', () => {
  it('cannot create a token for their service user, and an owner can', async () => {
    const service = await createServiceUser([owners]);
    expect(statusOf(await makeToken(admin, service))).toEqual(refused('ownership of the tenant tenant.example.com'));
    expect((await makeToken(api().call, service)).status).toBe(200);
    expect((await admin('GET', `/api/users/${service}/tokens`)).body).toHaveLength(1);
    const [{ id }] = (await admin('GET', `/api/users/${service}/tokens`)).body;
    expect((await admin('DELETE', `/api/users/${service}/tokens/${id}`)).status).toBe(200);
    expect((await makeToken(admin, await createServiceUser([]))).status).toBe(200);
  });

  it('can create the token when they own the tenant too', async () => {
    const id = await createUser(person({ role: 'admin', auto_groups: [owners] }));
    const call = await callAs(api(), id);
    expect((await makeToken(call, await createServiceUser([owners]))).status).toBe(200);
    const other = await api().group('owners of another tenant');
    await makeTenant('another.example.com', other);
    expect((await makeToken(call, await createServiceUser([owners, other]))).status).toBe(403);
  });

  it('cannot regenerate an invite of an owner that grants the group', async () => {
    const { id } = (await api().call('POST', '/api/users/invites', invitee({ auto_groups: [owners] }))).body;
    const path = `/api/users/invites/${id}/regenerate`;
    expect(statusOf(await admin('POST', path))).toEqual(refused('ownership of the tenant'));
    expect((await api().call('POST', path)).status).toBe(200);
  });

  it('cannot have an invite accepted whose group came to own a tenant after they sent it', async () => {
    const group = await api().group('later owners');
    const { invite_token: token } = (await admin('POST', '/api/users/invites', invitee({ auto_groups: [group] }))).body;
    await makeTenant('later.example.com', group);
    const accepted = await callAsAnonymous(api())('POST', `/api/users/invites/${token}/accept`, { password });
    expect([accepted.status, problemsOf(accepted)]).toEqual([422, ['invite_void ']]);
  });

  it('cannot get the invite link of an invited user in the group', async () => {
    const invited = await createUser(person({ auto_groups: [owners] }));
    const path = `/api/users/${invited}/invite`;
    expect(statusOf(await admin('POST', path))).toEqual(refused('ownership of the tenant'));
    expect((await api().call('POST', path)).status).toBe(200);
  });

  it('cannot use the invite link of an invited user who became an owner since', async () => {
    await using own = await testApi();
    const create = async (role: string) => (await own.call('POST', '/api/users', person({ role }))).body.id;
    const asAdmin = await callAs(own, await create('admin'));
    const invited = await create('user');
    const path = `/api/users/${invited}`;
    const token = String((await asAdmin('POST', `${path}/invite`)).headers['heddle-invite-link'])
      .split('/')
      .at(-1);
    const promoted = await own.call('PUT', path, { role: 'owner', auto_groups: [], is_blocked: false });
    expect(promoted.status).toBe(200);
    expect(statusOf(await asAdmin('POST', `${path}/invite`))).toEqual(refused('the role `owner`'));
    const accepted = await callAsAnonymous(own)('POST', `/api/users/invites/${token}/accept`, { password });
    expect([accepted.status, problemsOf(accepted)]).toEqual([422, ['invite_void ']]);
  });

  it('cannot use it after they were deleted either', async () => {
    await using own = await testApi();
    const create = async (role: string) => (await own.call('POST', '/api/users', person({ role }))).body.id;
    const id = await create('admin');
    const invited = await create('user');
    const link = (await (await callAs(own, id))('POST', `/api/users/${invited}/invite`)).headers['heddle-invite-link'];
    const token = String(link).split('/').at(-1);
    const promotion = { role: 'owner', auto_groups: [], is_blocked: false };
    expect((await own.call('PUT', `/api/users/${invited}`, promotion)).status).toBe(200);
    expect((await own.call('DELETE', `/api/users/${id}`)).status).toBe(200);
    const accepted = await callAsAnonymous(own)('POST', `/api/users/invites/${token}/accept`, { password });
    expect([accepted.status, problemsOf(accepted)]).toEqual([422, ['invite_void ']]);
  });
});

describe('an admin, through a SCIM integration whose group owns a tenant', () => {
  it('cannot renew its token, change it or delete it, by the API or by documents', async () => {
    const { integration, addGroup } = await integrate(api());
    await makeTenant('scim.example.com', await addGroup('SCIM owners'));
    const path = `${integrations}/${integration}`;
    const why = 'only an owner can change, delete or restore the integration or renew its token';
    expect(statusOf(await admin('POST', `${path}/token`))).toEqual(refused(why));
    for (const change of [{ prefix: 'other' }, { group_prefixes: ['x'] }, { enabled: false }])
      expect(statusOf(await admin('PUT', path, change))).toEqual(refused(why));
    expect(statusOf(await admin('DELETE', path))).toEqual(refused(why));
    expect((await admin('PUT', path, {})).status).toBe(200);
    const text = doc('ScimIntegration', 'staff', '{ prefix: staff, provider: generic, group_prefixes: [x] }');
    const files = [{ path: 'a.yaml', text }];
    const body = { source: 'team', files, adopt: 'take' };
    const applied = await admin('POST', '/api/config/apply', body);
    expect([applied.status, applied.body.message]).toEqual(refused(why));
    expect((await api().call('POST', `${path}/token`)).status).toBe(200);
    expect((await api().call('DELETE', path)).status).toBe(200);
  });

  it('cannot restore the deleted integration by a rollback, and an owner can', async () => {
    await using own = await testApi();
    const id = (await own.call('POST', '/api/users', person({ role: 'admin' }))).body.id;
    const asAdmin = await callAs(own, id);
    const { integration, addGroup } = await integrate(own);
    await makeTenantOf(own, 'restored.example.com', await addGroup('SCIM owners'));
    const path = `${integrations}/${integration}`;
    const revision = await own.revision();
    expect((await own.call('DELETE', path)).status).toBe(200);
    const back = `/api/config/revisions/${revision}/rollback`;
    const why = 'only an owner can change, delete or restore the integration';
    expect(statusOf(await asAdmin('POST', back, { scope: 'all' }))).toEqual(refused(why));
    const plan = await own.call('POST', back, { scope: 'all' });
    const apply = `/api/config/plans/${plan.body.id}/apply`;
    expect(statusOf(await asAdmin('POST', apply, {}))).toEqual([412, expect.stringContaining(why)]);
    expect((await own.call('POST', apply, {})).status).toBe(200);
    expect((await own.call('GET', path)).status).toBe(200);
  });

  it('cannot take over the group of a deleted integration with another integration', async () => {
    const { integration, addGroup } = await integrate(api());
    const group = await addGroup('abandoned owners');
    await makeTenant('abandoned.example.com', group);
    expect((await api().call('DELETE', `${integrations}/${integration}`)).status).toBe(200);
    const own = (await admin('POST', integrations, { prefix: 'mine', provider: 'generic' })).body;
    const { account, engine } = api();
    const change = () => ({
      ...{ ...noChange, keys: 'external' as const, users: [{ key: 'me', email: adminEmail }] },
      groups: [{ key: 'g', name: 'abandoned owners', members: ['me'] }],
    });
    const made = await provision(engine, { account, integration: `scimintegration-${own.id}`, change });
    expect(made.ids.get('me')).toBe(adminId);
    expect(made.ids.get('g')).not.toBe(group);
    const message = expect.stringContaining('owners of the tenant abandoned.example.com');
    expect(made.findings).toEqual([{ code: 'group_not_adopted', key: 'g', message }]);
    expect((await admin('GET', `/api/users?account=${tenant}`)).status).toBe(403);
  });

  it('cannot replace the e-mail address of an invited user who owns a tenant', async () => {
    const body = person({ auto_groups: [owners] });
    const invited = await createUserWithoutPassword(body);
    const own = (await admin('POST', integrations, { prefix: 'swap', provider: 'generic' })).body;
    const scim = scimClient(api().app, own.auth_token);
    const { id } = (await scim('POST', '/Users', scimPerson(body.email))).body;
    expect(id).toBe(invited);
    const emails = [{ value: 'admin-as-other@example.com', primary: true }];
    await scim('PATCH', `/Users/${id}`, patch({ op: 'replace', path: 'emails', value: emails }));
    const state = await api().engine.snapshots.fresh(api().account);
    expect(present(state.find('User', invited)).spec.email).toBe(body.email);
  });
});

/** Creates a user without a password, as in an account whose users sign in with another identity provider. */
async function createUserWithoutPassword(body: JsonObject & { readonly email: string }): Promise<string> {
  const id = await createUser(body);
  const { account, engine } = api();
  const text = 'delete from credentials where account_id = $1 and user_id = $2';
  await engine.database.inAccount(account, [statement(text, [account, id])], { write: true });
  return id;
}

describe('an admin, through a directory integration whose group owns a tenant', () => {
  it('cannot redirect it to another directory or delete it', async () => {
    const body = { client_secret: 'c2VjcmV0', client_id: 'client', tenant_id: 'a', host: 'directory.example.com' };
    const { id } = (await api().call('POST', directories, body)).body;
    const path = `${directories}/${id}`;
    expect((await admin('PUT', path, { tenant_id: 'b' })).status).toBe(200);
    const { account, engine } = api();
    const groups = [{ key: 'g', name: 'directory owners', members: [] }];
    const change = () => ({ ...noChange, keys: 'external' as const, groups });
    const { ids } = await provision(engine, { account, integration: `directoryintegration-${id}`, change });
    await makeTenant('directory.example.com', present(ids.get('g')));
    const why = 'only an owner can change, delete or restore the integration';
    for (const change of [{ tenant_id: 'c' }, { client_id: 'c' }, { client_secret: 'b3RoZXI=' }, { enabled: false }])
      expect(statusOf(await admin('PUT', path, change))).toEqual(refused(why));
    expect(statusOf(await admin('DELETE', path))).toEqual(refused(why));
    expect((await api().call('PUT', path, { tenant_id: 'c' })).status).toBe(200);
  });

  it('cannot restore it by a rollback to a directory that it read before', async () => {
    await using own = await testApi();
    const id = (await own.call('POST', '/api/users', person({ role: 'admin' }))).body.id;
    const asAdmin = await callAs(own, id);
    const body = { client_secret: 'c2VjcmV0', client_id: 'client', tenant_id: 'a', host: 'directory.example.com' };
    const made = (await asAdmin('POST', directories, body)).body;
    const revision = await own.revision();
    const path = `${directories}/${made.id}`;
    expect((await own.call('PUT', path, { tenant_id: 'b' })).status).toBe(200);
    const groups = [{ key: 'g', name: 'directory owners', members: [] }];
    const change = () => ({ ...noChange, keys: 'external' as const, groups });
    const { account, engine } = own;
    const { ids } = await provision(engine, { account, integration: `directoryintegration-${made.id}`, change });
    await makeTenantOf(own, 'directory.example.com', present(ids.get('g')));
    expect((await own.call('DELETE', path)).status).toBe(200);
    const plan = await asAdmin('POST', `/api/config/revisions/${revision}/rollback`, { scope: 'all' });
    const why = 'only an owner can change, delete or restore the integration';
    expect([plan.status, String(plan.body.message)]).toEqual([403, expect.stringContaining(why)]);
  });
});
