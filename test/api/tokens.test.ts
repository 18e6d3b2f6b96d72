import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { insertToken } from '../../src/db/accounts/tokens.ts';
import { queryBuilder } from '../../src/db/builder.ts';
import { createTokenUses, hashToken } from '../../src/features/auth/authenticate.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { isWellFormedToken, makeToken } from '../../src/lib/token.ts';
import { putObjects } from '../setup/objects.ts';
import { doc } from './documents.ts';
import { type Call, sharedApi } from './setup.ts';

const api = sharedApi();
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
let users = 0;

const me = async (): Promise<string> => (await api().call('GET', '/api/users/current')).body.id;

/**
 * Creates a user with the role and a token. Returns the user's id, and a function that sends requests with this token.
 */
async function visitor(role: string, isServiceUser = false): Promise<{ readonly id: string; readonly call: Call }> {
  users += 1;
  const body = { name: `${role}${users}`, role, auto_groups: [], is_service_user: isServiceUser };
  const email = isServiceUser ? {} : { email: `${role}${users}@example.com` };
  const { id } = (await api().call('POST', '/api/users', { ...body, ...email })).body;
  const value = makeToken('nbp_', randomBytes(32));
  await insertToken(api().engine.database, {
    ...{ account: api().account, id: api().engine.newId(), user: id, name: 'first', hash: hashToken(value) },
    ...{ createdBy: id, createdAt: '2026-01-01T00:00:00Z', expiresAt: '2126-01-01T00:00:00Z' },
  });
  return { id, call: withToken(value) };
}

function withToken(value: string): Call {
  return (method, url, body) => api().call(method, url, body, { authorization: `Token ${value}` });
}

const make = (user: string, body: JsonObject = { name: 'CI', expires_in: 30 }, call: Call = api().call) =>
  call('POST', `/api/users/${user}/tokens`, body);

describe('personal access tokens', () => {
  it('are created, shown once, listed, read, used and deleted', async () => {
    const id = await me();
    const made = await make(id);
    expect([made.status, made.headers['cache-control']]).toEqual([200, 'no-store']);
    const { plain_token: value, personal_access_token: record } = made.body;
    expect(isWellFormedToken('nbp_', value)).toBe(true);
    expect(record).toEqual({
      ...{ id: expect.any(String), name: 'CI', created_by: id, created_at: timestamp, expiration_date: timestamp },
    });
    const days = (Date.parse(record.expiration_date) - Date.parse(record.created_at)) / 86_400_000;
    expect(days).toBe(30);
    const path = `/api/users/${id}/tokens/${record.id}`;
    expect((await api().call('GET', path)).body).toEqual(record);
    const listed = await api().call('GET', `/api/users/${id}/tokens`);
    expect(listed.body).toContainEqual(record);
    expect(JSON.stringify(listed.body)).not.toContain(value);
    expect((await withToken(value)('GET', '/api/groups')).status).toBe(200);
    const deleted = await api().call('DELETE', path);
    expect([deleted.status, deleted.body]).toEqual([200, '']);
    expect((await api().call('GET', path)).status).toBe(404);
    expect((await api().call('DELETE', path)).status).toBe(404);
    expect((await withToken(value)('GET', '/api/groups')).status).toBe(401);
  });

  it('are recorded in the audit log with their creator and their user', async () => {
    const program = await visitor('user', true);
    const { personal_access_token: record } = (await make(program.id)).body;
    await api().call('DELETE', `/api/users/${program.id}/tokens/${record.id}`);
    const [deleted, created] = (await api().call('GET', '/api/events/audit')).body;
    const meta = { name: 'CI', is_service_user: 'true', user_name: expect.any(String) };
    const about = { initiator_name: 'machine owner', target_id: program.id, meta };
    expect(created).toMatchObject({ activity_code: 'personal.access.token.create', ...about });
    expect(deleted).toMatchObject({ activity_code: 'personal.access.token.delete', ...about });
  });

  it.each([
    [{ name: '', expires_in: 30 }, ['/name']],
    [{ expires_in: 30 }, ['']],
    [{ name: 'x'.repeat(256), expires_in: 30 }, ['/name']],
    [{ name: 'x', expires_in: 0 }, ['/expires_in']],
    [{ name: 'x', expires_in: 366 }, ['/expires_in']],
    [{ name: 'x', expires_in: 1.5 }, ['/expires_in']],
    [{ name: 'x', expires_in: '30' }, ['/expires_in']],
    [{ plan_only: 1 }, ['', '', '/plan_only']],
  ])('are refused for %j', async (body, paths) => {
    const answer = await make(await me(), body);
    expect([answer.status, answer.body.problems.map(({ path }: JsonObject) => path)]).toEqual([422, paths]);
  });

  it.each([1, 365])('may last %i days', async (days) => {
    expect((await make(await me(), { name: 'edge', expires_in: days })).status).toBe(200);
  });

  it('can be created and read only by the person to which they belong', async () => {
    const ana = await visitor('user');
    expect((await make(ana.id, undefined, ana.call)).status).toBe(200);
    expect((await ana.call('GET', `/api/users/${ana.id}/tokens`)).body).toHaveLength(2);
    expect((await make(ana.id)).status).toBe(403);
    expect((await api().call('GET', `/api/users/${ana.id}/tokens`)).status).toBe(403);
    expect((await ana.call('GET', `/api/users/${await me()}/tokens`)).status).toBe(403);
    expect((await api().call('GET', '/api/users/nobody/tokens')).status).toBe(404);
  });

  it.each([
    ['admin', 200, 200],
    ['network_admin', 403, 200],
    ['auditor', 403, 200],
    ['user', 403, 403],
  ])('of service users are created by %s with status %i, and read with status %i', async (role, making, reading) => {
    const program = await visitor('user', true);
    const { call } = await visitor(role);
    expect((await make(program.id, undefined, call)).status).toBe(making);
    expect((await call('GET', `/api/users/${program.id}/tokens`)).status).toBe(reading);
  });
});

describe('a plan-only token', () => {
  const text = doc('Group', 'planned', 'name: Planned');

  it('reads and plans, and writes nothing', async () => {
    const made = await make(await me(), { name: 'plans', expires_in: 1, plan_only: true });
    expect(made.body.personal_access_token.plan_only).toBe(true);
    const call = withToken(made.body.plain_token);
    expect((await call('GET', '/api/groups')).status).toBe(200);
    const files = [{ path: 'g.yaml', text }];
    const plan = await call('POST', '/api/config/plans', { source: 'ci', files });
    expect([plan.status, plan.body.counts]).toEqual([201, { create: 1, update: 0, delete: 0, claims: 0 }]);
    expect((await call('POST', '/api/config/validate', { source: 'ci', files })).status).toBe(200);
    for (const [method, url, body] of [
      ['POST', `/api/config/plans/${plan.body.id}/apply`, {}],
      ['POST', '/api/config/apply', { source: 'ci', files }],
      ['POST', '/api/groups', { name: 'written' }],
    ] as const) {
      const answer = await call(method, url, body);
      expect([answer.status, answer.body.message]).toEqual([403, expect.stringContaining('read and plan')]);
    }
    expect((await api().call('GET', '/api/groups')).body.map(({ name }: JsonObject) => name)).not.toContain('written');
  });

  it('is refused by every route that writes', async () => {
    const made = await make(await me(), { name: 'walks', expires_in: 1, plan_only: true });
    const call = withToken(made.body.plain_token);
    const { paths } = (await api().call('GET', '/api/openapi.json')).body;
    const before = await api().revision();
    const open: string[] = [];
    for (const [path, operations] of Object.entries<JsonObject>(paths)) {
      for (const [method, operation] of Object.entries(operations)) {
        // Operations with their own `security` identify the caller by other means than the account's tokens.
        const isOpen = Array.isArray((operation as JsonObject)['security']);
        if (['get', 'parameters'].includes(method) || isOpen) continue;
        const answer = await call(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'some-id'), {});
        if (answer.status !== 403) open.push(`${method} ${path}`);
      }
    }
    expect(open.sort()).toEqual([
      'post /api/config/plans',
      'post /api/config/revisions/{revision}/rollback',
      'post /api/config/tests',
      'post /api/config/validate',
    ]);
    expect(await api().revision()).toBe(before);
  });
});

describe('the last use of a token', () => {
  it('is written once for 20000 uses, and again for a use a minute later', async () => {
    const { engine, account } = api();
    const id = engine.newId();
    const hash = hashToken(makeToken('nbp_', randomBytes(32)));
    const times = { createdAt: '2026-01-01T00:00:00Z', expiresAt: '2126-01-01T00:00:00Z' };
    await insertToken(engine.database, { account, id, user: 'u', name: 'busy', hash, createdBy: 'u', ...times });
    let writes = 0;
    const counting = {
      ...engine.database,
      inAccount: (...rest: Parameters<typeof engine.database.inAccount>) => {
        writes += 1;
        return engine.database.inAccount(...rest);
      },
    };
    let now = Date.parse('2026-05-01T10:00:00Z');
    // The cast is safe: only `inAccount` is called, and it counts the writes.
    const uses = createTokenUses(counting as never, { now: () => now, gatherMs: 1 });
    for (let use = 0; use < 20_000; use++) uses.record(account, id);
    const read = async () =>
      (
        await engine.database.lookUp(
          queryBuilder.selectFrom('tokens').select('last_used').where('id', '=', id).compile(),
        )
      )[0]?.last_used?.toISOString();
    await expect.poll(read).toBe('2026-05-01T10:00:00.000Z');
    expect(writes).toBe(1);
    now += 61_000;
    uses.record(account, id);
    await uses.close();
    expect([await read(), writes]).toEqual(['2026-05-01T10:01:01.000Z', 2]);
  });
});

describe('audit events', () => {
  it('are listed newest first, and older ones with `before`', async () => {
    await api().group('audited-one');
    await api().group('audited-two');
    const events = (await api().call('GET', '/api/events/audit')).body;
    expect(events.slice(0, 2).map(({ meta }: JsonObject) => (meta as JsonObject)['name'])).toEqual([
      'audited-two',
      'audited-one',
    ]);
    expect(events[0]).toMatchObject({ activity: 'Group created', activity_code: 'group.add', timestamp });
    const older = (await api().call('GET', `/api/events/audit?before=${events[0].id}`)).body;
    expect(older[0]).toEqual(events[1]);
    expect((await api().call('GET', '/api/events')).body).toEqual(events);
  });

  it('are returned only to roles that may read events', async () => {
    expect((await (await visitor('auditor')).call('GET', '/api/events/audit')).status).toBe(200);
    expect((await (await visitor('user')).call('GET', '/api/events/audit')).status).toBe(403);
  });

  it('keep the e-mail address of their initiator after that user is deleted', async () => {
    const gone = await visitor('admin');
    await gone.call('POST', '/api/groups', { name: 'by-gone' });
    await api().call('DELETE', `/api/users/${gone.id}`);
    const events: readonly JsonObject[] = (await api().call('GET', '/api/events/audit')).body;
    const event = events.find(({ activity_code: code, initiator_id: id }) => code === 'group.add' && id === gone.id);
    expect(event?.['initiator_email']).toMatch(/^admin\d+@example\.com$/);
  });
});

describe('rights of a user', () => {
  it('are those of the current role, also right after it changes', async () => {
    const { id, call } = await visitor('network_admin');
    expect((await call('POST', '/api/groups', { name: 'allowed' })).status).toBe(200);
    const refused = await call('POST', '/api/setup-keys', {
      name: 'k',
      type: 'one-off',
      expires_in: 86_400,
      auto_groups: [],
      usage_limit: 0,
    });
    expect([refused.status, refused.body.message]).toEqual([
      403,
      expect.stringContaining('`network_admin` may not create'),
    ]);
    await putObjects(api().engine, api().account, (state) => {
      const user = state.get(id);
      return user === undefined ? [] : [{ ...user, spec: { ...user.spec, role: 'auditor' } }];
    });
    expect((await call('POST', '/api/groups', { name: 'not any more' })).status).toBe(403);
  });

  it('are limited to the own profile for the role `user`', async () => {
    const { id, call } = await visitor('user');
    const listed = (await call('GET', '/api/users')).body;
    expect(listed.map((user: JsonObject) => user['id'])).toEqual([id]);
    expect((await call('GET', '/api/users/current')).body.permissions.is_restricted).toBe(true);
    expect((await call('GET', '/api/peers')).body).toEqual([]);
    for (const path of ['/api/groups', '/api/policies', '/api/accounts', '/api/setup-keys', '/api/config/export'])
      expect([path, (await call('GET', path)).status]).toEqual([path, 403]);
  });

  it('are reading everything and writing nothing for a service user of any role', async () => {
    const { call } = await visitor('user', true);
    for (const path of ['/api/groups', '/api/users', '/api/config/export', '/api/accounts'])
      expect([path, (await call('GET', path)).status]).toEqual([path, 200]);
    expect((await call('POST', '/api/groups', { name: 'no' })).status).toBe(403);
  });
});
