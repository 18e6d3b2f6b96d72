import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { insertToken } from '../../src/db/accounts/tokens.ts';
import { hashToken } from '../../src/features/auth/authenticate.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { makeToken } from '../../src/lib/token.ts';
import { rowsOf } from '../commit/office.ts';
import { noon, storeRequests } from '../logs/filled.ts';
import { putObjects } from '../setup/objects.ts';
import { doc } from './documents.ts';
import { type Answer, apiOn, sharedApi } from './setup.ts';

const api = sharedApi();
const tenants = '/api/integrations/msp/tenants';

type Ask = (method: string, url: string, body?: Json) => Promise<Answer>;
let tokens = 0;

/** Creates a token for a user, and returns a function that calls with it. */
async function as(account: string, user: string): Promise<Ask & { readonly token: string }> {
  const token = makeToken('nbp_', new Uint8Array(32).fill(50 + ++tokens));
  const { database, newId, now } = api().engine;
  const who = { account, id: newId(), user, createdBy: user };
  const times = { createdAt: now(), expiresAt: '2999-01-01T00:00:00Z' };
  await insertToken(database, { ...who, ...times, name: 'test', hash: hashToken(token) });
  const ask: Ask = (method, url, body) => api().call(method, url, body, { authorization: `Token ${token}` });
  return Object.assign(ask, { token });
}

async function ownerOf(account: string) {
  const state = await api().engine.snapshots.fresh(account);
  return as(account, state.ofKind('User').find(({ spec }) => spec['role'] === 'owner')?.id ?? '');
}

/**
 * Creates a user in the managing account with these groups, who has no permissions there. Returns a function that calls
 * as this user.
 */
async function consultant(name: string, auto_groups: readonly string[]): Promise<Ask> {
  const body = { name, email: `${name}@example.com`, role: 'user', auto_groups, is_service_user: false };
  return as(api().account, (await api().call('POST', '/api/users', body)).body.id);
}

const found = async (domain: string, groups: readonly JsonObject[]): Promise<string> =>
  (await api().call('POST', tenants, { name: domain, domain, groups })).body.id;
const names = ({ body }: Answer) => body.map(({ name }: { readonly name: string }) => name).sort();
const revisionOf = async (account: string) => (await api().engine.snapshots.fresh(account)).revision;

describe('the `account` query parameter', () => {
  let [support, audit, tenant, outsider] = ['', '', '', ''];
  let helper: Ask;
  beforeAll(async () => {
    [support, audit] = [await api().group('support'), await api().group('audit')];
    const groups = [
      { id: support, role: 'network_admin' },
      { id: audit, role: 'auditor' },
    ];
    tenant = await found('tenant.example.com', groups);
    outsider = await found('let-go.example.com', []);
    const eva = {
      name: 'Eva',
      email: 'eva@let-go.example.com',
      role: 'admin',
      auto_groups: [],
      is_service_user: false,
    };
    const owner = (await (await ownerOf(outsider))('POST', '/api/users', eva)).body.id;
    expect((await api().call('POST', `${tenants}/${outsider}/unlink`, { owner })).status).toBe(200);
    helper = await consultant('helper', [support, audit]);
  });

  it("selects the account of a tenant, with the highest role of the caller's groups", async () => {
    expect((await helper('GET', '/api/groups')).status).toBe(403);
    expect(names(await helper('GET', `/api/groups?account=${tenant}`))).toEqual(['All']);
    expect((await helper('POST', `/api/groups?account=${tenant}`, { name: 'theirs' })).status).toBe(200);
    expect(names(await helper('GET', `/api/groups?account=${tenant}&name=theirs`))).toEqual(['theirs']);
    expect(names(await api().call('GET', '/api/groups'))).not.toContain('theirs');
    const key = { name: 'k', type: 'reusable', expires_in: 86400, auto_groups: [], usage_limit: 0 };
    const refused = await helper('POST', `/api/setup-keys?account=${tenant}`, key);
    expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining('network_admin')]);
  });

  it("keeps the caller's identity, with the permissions in the tenant", async () => {
    const { body } = await helper('GET', `/api/users/current?account=${tenant}`);
    expect(body).toMatchObject({ email: 'helper@example.com', role: 'user', is_current: true });
    expect([body.permissions.modules.groups.create, body.permissions.modules.users.create]).toEqual([true, false]);
    const [event] = (await helper('GET', `/api/events/audit?account=${tenant}`)).body;
    expect(event).toMatchObject({ activity_code: 'group.add', initiator_email: 'helper@example.com' });
  });

  it("is refused with 403 for an account that is neither the caller's nor a tenant of it, and nothing is written", async () => {
    const poor = await consultant('poor', []);
    const before = await Promise.all([api().account, tenant, outsider].map(revisionOf));
    const group = (account: string) => `/api/groups?account=${account}`;
    for (const [ask, account] of [
      [helper, outsider],
      [helper, 'nobody'],
      [helper, support],
      [poor, tenant],
      [api().call, outsider],
      [api().call, tenant],
      [await ownerOf(tenant), api().account],
    ] as const) {
      const answers = [await ask('GET', group(account)), await ask('POST', group(account), { name: 'no' })];
      const message = `the account ${account} is neither yours nor one of your tenants`;
      for (const { status, body } of answers) expect([status, body.message]).toEqual([403, message]);
    }
    expect(await Promise.all([api().account, tenant, outsider].map(revisionOf))).toEqual(before);
  });

  it("may name the caller's own account or be empty", async () => {
    expect((await api().call('GET', `/api/groups?account=${api().account}`)).status).toBe(200);
    expect((await api().call('GET', '/api/groups?account=')).status).toBe(200);
  });

  it("refuses to grant a role above the caller's role in the tenant", async () => {
    const put = { name: 'tenant', groups: [{ id: support, role: 'admin' }] };
    await api().call('PUT', `${tenants}/${tenant}`, put);
    const body = { name: 'Uli', email: 'uli@example.com', role: 'user', auto_groups: [], is_service_user: false };
    const { id } = (await helper('POST', `/api/users?account=${tenant}`, body)).body;
    const rise = { role: 'owner', auto_groups: [], is_blocked: false };
    expect((await helper('PUT', `/api/users/${id}?account=${tenant}`, rise)).status).toBe(403);
    expect((await helper('DELETE', `/api/accounts/${tenant}?account=${tenant}`)).status).toBe(403);
    expect((await helper('PUT', `/api/users/${id}?account=${tenant}`, { ...rise, role: 'admin' })).status).toBe(200);
  });

  it('is refused with 403 after the tenant is unlinked', async () => {
    const users = (await helper('GET', `/api/users?account=${tenant}`)).body;
    const owner = users.find(({ email }: { readonly email: string }) => email === 'uli@example.com').id;
    expect((await api().call('POST', `${tenants}/${tenant}/unlink`, { owner })).status).toBe(200);
    expect((await helper('GET', `/api/groups?account=${tenant}`)).status).toBe(403);
  });
});

describe('DELETE /api/accounts/{id}', () => {
  /** Returns the number of rows of an account in each table. */
  async function rows(account: string): Promise<Readonly<Record<string, number>>> {
    const { database } = api().engine;
    const tables = await rowsOf(
      database,
      `select table_name as name from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
       where column_name = 'account_id' and table_schema = current_schema() and table_type = 'BASE TABLE' order by 1`,
    );
    const counted = tables.map(async ({ name }) => {
      const [row] = await rowsOf(
        database,
        `select count(*) as count from ${String(name)} where account_id = '${account}'`,
      );
      return [String(name), Number(row?.['count'])] as const;
    });
    return Object.fromEntries(await Promise.all(counted));
  }

  /** Stores a proxy's report with one request. */
  async function report(account: string, batch: string): Promise<void> {
    const timestamp = new Date(noon).toISOString();
    const request = { timestamp, id: batch, method: 'GET', host: 'a.example.com', path: '/' };
    await storeRequests(api().engine.database, account, batch, [request]);
  }

  /** Creates a tenant with rows in most tables. */
  async function furnished(
    domain: string,
  ): Promise<{ readonly id: string; readonly owner: Ask & { readonly token: string } }> {
    const id = await found(domain, []);
    const owner = await ownerOf(id);
    const files = [{ path: 'a.yaml', text: doc('Group', 'devs', 'name: devs') }];
    expect((await owner('POST', '/api/config/apply', { source: 'team', files })).status).toBe(200);
    expect((await owner('POST', '/api/config/plans', { source: 'team', files })).status).toBeLessThan(300);
    await owner('POST', '/api/integrations/scim-idp', { provider: 'generic', prefix: 'staff' });
    const headers = { authorization: `Token ${owner.token}`, 'idempotency-key': domain };
    await api().call('POST', '/api/groups', { name: 'once' }, headers);
    await report(id, 'in-time');
    return { id, owner };
  }

  it('deletes the rows of the account from every table, and revokes its tokens', async () => {
    const { id, owner } = await furnished('gone.example.com');
    const before = await rows(id);
    for (const table of [
      'accounts',
      'objects',
      'tokens',
      'directory',
      'audit_events',
      'changes',
      'idempotency_keys',
      'proxy_log',
      'feed_hours',
    ])
      expect([table, before[table]]).not.toEqual([table, 0]);
    const answer = await owner('DELETE', `/api/accounts/${id}`);
    expect([answer.status, answer.body]).toEqual([200, '']);
    // A proxy report that arrives after the deletion writes nothing.
    await report(id, 'late');
    expect(Object.entries(await rows(id)).filter(([, count]) => count > 0)).toEqual([]);
    expect((await owner('GET', '/api/groups')).status).toBe(401);
    expect((await owner('DELETE', `/api/accounts/${id}`)).status).toBe(401);
  });

  it('writes an audit event in the account that managed it', async () => {
    const { id, owner } = await furnished('told.example.com');
    await owner('DELETE', `/api/accounts/${id}`);
    const list = (await api().call('GET', tenants)).body;
    expect(list.map((one: { readonly id: string }) => one.id)).not.toContain(id);
    const events = (await api().call('GET', '/api/events/audit')).body.slice(0, 2);
    expect(events.map((event: JsonObject) => [event['activity_code'], event['target_id']]).sort()).toEqual([
      ['account.delete', id],
      ['msp.tenant.unlink', id],
    ]);
  });

  it('ends the event streams of the account, and other servers forget it', async () => {
    const { id, owner } = await furnished('stream.example.com');
    await using other = await apiOn(api().engine.database, async () => {});
    const authorization = `Token ${owner.token}`;
    expect((await other.call('GET', '/api/groups', undefined, { authorization })).status).toBe(200);
    const asked = { method: 'GET', url: '/api/config/events', headers: { authorization } } as const;
    const stream = await api().app.inject({ ...asked, payloadAsStream: true });
    expect(stream.statusCode).toBe(200);
    const revision = await revisionOf(id);
    await owner('POST', '/api/groups', { name: 'news' });
    await owner('DELETE', `/api/accounts/${id}`);
    // `text` returns only when the server ends the stream.
    expect(await text(stream.stream())).toMatch(/^retry: /);
    expect((await other.call('GET', '/api/groups', undefined, { authorization })).status).toBe(401);
    await expect(other.engine.snapshots.atLeast(id, revision + 2)).rejects.toThrow(`account ${id} not found`);
    other.engine.notices.publish({ what: 'gone', account: id });
    await expect(other.engine.snapshots.current(id)).rejects.toThrow(`account ${id} not found`);
  });

  it('is allowed for owners only, and refused while the account manages tenants', async () => {
    const { account } = api();
    const kept = await found('kept.example.com', []);
    await putObjects(api().engine, account, (state) => {
      const one = state.get(kept);
      return one === undefined ? [] : [{ ...one, derived: { ...one.derived, status: 'active' } }];
    });
    const refused = await api().call('DELETE', `/api/accounts/${account}`);
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('unlink them first')]);
    const admin = { name: 'bot', role: 'admin', auto_groups: [], is_service_user: true };
    const bot = await as(account, (await api().call('POST', '/api/users', admin)).body.id);
    expect((await bot('DELETE', `/api/accounts/${account}`)).status).toBe(403);
    expect((await api().call('DELETE', '/api/accounts/nobody')).status).toBe(404);
    expect((await api().call('GET', '/api/groups')).status).toBe(200);
  });
});
