import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { queryBuilder } from '../../src/db/builder.ts';
import { hashToken } from '../../src/features/auth/authenticate.ts';
import { makeToken } from '../../src/lib/token.ts';
import type { LogLine } from '../../src/log.ts';
import { putObjects } from '../setup/objects.ts';
import { sharedApi, token } from './setup.ts';

const lines: LogLine[] = [];
const api = sharedApi({ log: (line) => lines.push(line) });
const authorization = `Token ${token}`;

/** Creates a service user with a token. */
async function serviceUser(role = 'admin'): Promise<{ readonly id: string; readonly secret: string }> {
  const { call } = api();
  const { id } = (await call('POST', '/api/users', { is_service_user: true, role, name: 'bot', auto_groups: [] })).body;
  const made = await call('POST', `/api/users/${id}/tokens`, { name: 'bot', expires_in: 1 });
  return { id, secret: made.body.plain_token };
}

const asWith = (secret: string, method = 'GET', url = '/api/groups') =>
  api().call(method, url, undefined, { authorization: `Token ${secret}` });

it('a deleted token is refused like one that never existed', async () => {
  const { id, secret } = await serviceUser();
  const [{ id: tokenId }] = (await api().call('GET', `/api/users/${id}/tokens`)).body;
  expect((await asWith(secret)).status).toBe(200);
  await api().call('DELETE', `/api/users/${id}/tokens/${tokenId}`);
  expect(await asWith(secret)).toMatchObject({ status: 401, body: { message: 'token invalid', code: 401 } });
});

it('a token of a deleted or blocked user is refused', async () => {
  const blocked = await serviceUser();
  await putObjects(api().engine, api().account, (state) => {
    const user = state.get(blocked.id);
    return user === undefined ? [] : [{ ...user, spec: { ...user.spec, is_blocked: true } }];
  });
  expect(await asWith(blocked.secret)).toMatchObject({ status: 403, body: { message: 'user is blocked' } });
  const gone = await serviceUser();
  await api().call('DELETE', `/api/users/${gone.id}`);
  expect(await asWith(gone.secret)).toMatchObject({ status: 401, body: { message: 'token invalid' } });
});

it.each([
  ['GET', '/api/groups', { 'x-http-method-override': 'DELETE' }],
  ['GET', '/api/groups', { 'x-original-url': '/api/config/backup', 'x-rewrite-url': '/api/config/backup' }],
] as const)('%s %s with %j ignores the headers', async (method, url, headers) => {
  const answer = await api().app.inject({ method, url, headers: { authorization, ...headers } });
  expect([answer.statusCode, answer.json()]).toEqual([
    200,
    expect.arrayContaining([expect.objectContaining({ name: 'All' })]),
  ]);
});

it.each([
  ...['/api//groups', '/api/groups/', '/API/groups', '/api/./groups/x', '//api/groups', '/healthz/../api/groups'],
  ...['/api/%67roups%00', '/healthz%2f..%2fapi%2fgroups', '/api/groups%2fx', '/api;x=/groups', '\\api\\groups'],
])('%s is refused without a token', async (url) => {
  const answer = await api().app.inject({ url });
  expect([401, 404]).toContain(answer.statusCode);
});

it.each([
  '/api/groups/..%2f..%2fhealthz',
  '/api/groups/%00',
  '/api/groups/%ff',
  `/api/groups/${'x'.repeat(600)}`,
  "/api/groups/' OR 1=1 --",
])('%s is refused with 400 or 404 as an unknown id', async (url) => {
  const answer = await api().app.inject({ url: encodeURI(decodeURI(encodeURI(url))), headers: { authorization } });
  expect([400, 404]).toContain(answer.statusCode);
});

it('a client cannot set members that only the server sets, nor raise its own role', async () => {
  const { call, account } = api();
  const { id, secret } = await serviceUser('user');
  const forged = {
    id: 'me',
    account_id: 'other',
    issued: 'integration',
    is_current: true,
    permissions: {},
    status: 'active',
  };
  const made = await call('POST', '/api/users', {
    ...{ is_service_user: true, role: 'auditor', name: 'forged', auto_groups: [] },
    ...forged,
  });
  expect(made).toMatchObject({ status: 200, body: { role: 'auditor', issued: 'api', is_current: false } });
  expect(made.body.id).not.toBe('me');
  expect((await api().engine.snapshots.current(account)).get(made.body.id)?.id).toBe(made.body.id);
  const promoted = await call(
    'PUT',
    `/api/users/${id}`,
    { role: 'admin', auto_groups: [], is_blocked: false },
    {
      authorization: `Token ${secret}`,
    },
  );
  expect(promoted.status).toBe(403);
  const own = await call('POST', '/api/users', { is_service_user: true, role: 'owner', name: 'o', auto_groups: [] });
  expect(own.status).toBe(422);
});

it.each([
  ['nothing', '', 422],
  ['a zero character', '\u0000', 400],
  ['half a character', '\ud800', 400],
  ['more than a body may hold', 'x'.repeat(1024 * 1024), 413],
  ['letters of many scripts', 'Ünïcödé 组 🦊', 200],
])('a group name of %s is answered with the expected status', async (_what, name, status) => {
  const answer = await api().call('POST', '/api/groups', { name });
  expect([answer.status, status === 200 ? answer.body.name : '']).toEqual([status, status === 200 ? name : '']);
});

it('an unknown token of the right format is refused with the message `token invalid`', async () => {
  const outsider = makeToken('nbp_', randomBytes(32));
  expect(await asWith(outsider)).toMatchObject({ status: 401, body: { message: 'token invalid', code: 401 } });
});

it('no token appears in the log, the audit events or the history', async () => {
  const { secret } = await serviceUser();
  const { engine, account } = api();
  const rows = await engine.database.inAccount(
    account,
    (['audit_events', 'changes', 'revisions', 'objects'] as const).map((table) =>
      queryBuilder.selectFrom(table).selectAll().compile(),
    ),
  );
  const everything = JSON.stringify([rows, lines]);
  expect(everything).toContain('personal.access.token.create');
  for (const text of [secret, token, hashToken(secret)]) expect(everything).not.toContain(text);
});
