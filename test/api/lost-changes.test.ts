import { expect, it } from 'vitest';
import { doc } from './documents.ts';
import { isReplay, losing, post, twice } from './losing.ts';
import { callAs } from './people.ts';
import { type Answer, type TestApi, testApi, token } from './setup.ts';

const account = doc('Account', 'account', 'settings: {network_range: 100.64.0.0/16}');
const group = doc('Group', 'developers', 'name: developers');
const key = doc(
  'SetupKey',
  'bern',
  'type: reusable\nexpires_in: 86400\nauto_groups: []\nusage_limit: 0\nrevoked: false',
);
const text = [account, group, key].join('---\n');

const push = (own: TestApi, source: string, documents: string) =>
  own.call('POST', '/api/config/apply', { source, files: [{ path: 'a.yaml', text: documents }] });

/** Creates an account with documents of the source `team`. */
async function scene(): Promise<TestApi> {
  const own = await testApi();
  expect((await push(own, 'team', text)).status).toBe(200);
  return own;
}

/** Checks that the second answer repeats the first, and that nothing was done again. */
async function expectReplayed(own: TestApi, [first, again]: readonly [Answer, Answer]): Promise<void> {
  expect([first.status, first.body.revision]).toEqual([200, await own.revision()]);
  expect([again.status, again.body, isReplay(again)]).toEqual([200, first.body, true]);
}

const list = '/api/config/overrides';
const of = { kind: 'Account', name: 'account' };

it('an override, or its end, that is retried because the server died after the commit returns the first answer', async () => {
  await using own = await scene();
  const values = { 'settings.network_range': '8.8.0.0/16' };
  const made = await twice(own, list, { ...of, reason: 'incident 4711', values });
  await expectReplayed(own, made);
  expect(made[0].body).toMatchObject({ overrides: [{ value: '8.8.0.0/16' }], notices: [expect.any(String)] });
  const ended = await twice(own, `${list}/end`, of);
  await expectReplayed(own, ended);
  expect(ended[0].body.overrides).toEqual([]);
});

it('a retried override that restricts returns its `lasting` fields again', async () => {
  await using own = await scene();
  const body = { kind: 'SetupKey', name: 'bern', reason: 'stolen', values: { revoked: true } };
  const made = await twice(own, list, body);
  await expectReplayed(own, made);
  expect(made[0].body.lasting).toEqual(['revoked']);
});

it('a retried override is refused with 403 when the caller has lost the right to make it', async () => {
  await using own = await scene();
  const user = { name: 'a', is_service_user: true, role: 'admin', auto_groups: [] };
  const admin = (await own.call('POST', '/api/users', user)).body.id;
  const asAdmin = await callAs(own, admin);
  const body = { kind: 'SetupKey', name: 'bern', reason: 'stolen', values: { revoked: true } };
  const ask = () => asAdmin('POST', list, body, { 'idempotency-key': 'k' });
  expect((await losing(own, ask)).status).toBe(200);
  await own.call('PUT', `/api/users/${admin}`, { role: 'auditor', auto_groups: [], is_blocked: false });
  expect((await ask()).status).toBe(403);
});

it('a detach of a source that is retried because the server died after the commit returns the first answer', async () => {
  await using own = await scene();
  expect((await push(own, 'other', group)).status).toBe(200);
  const detached = await twice(own, '/api/config/sources/team/detach', undefined);
  await expectReplayed(own, detached);
  expect(detached[0].body).toMatchObject({ released: 3, shared: 1, deleted: 0 });
});

it('tenant steps (dns, subscription) that are retried because the server died after the commit return the first answer', async () => {
  const records = new Map<string, readonly string[]>();
  await using own = await testApi('postgres', { resolveTxt: async (name) => records.get(name) ?? [] });
  const tenants = '/api/integrations/msp/tenants';
  const body = { name: 'Acme', domain: 'acme.example.com', groups: [] };
  const { id, domain, dns_challenge: challenge } = (await own.call('POST', tenants, body)).body;
  records.set(`_heddle-challenge.${domain}`, [challenge]);
  for (const [step, given] of [
    ['dns', undefined],
    ['subscription', { priceID: 'price_team_monthly' }],
  ] as const) {
    const [first, again] = await twice(own, `${tenants}/${id}/${step}`, given);
    expect([first.status, first.body, again.status, again.body, isReplay(again)]).toEqual([200, '', 200, '', true]);
  }
});

it('an approval of a user that is retried because the server died after the commit returns the first answer', async () => {
  await using own = await testApi();
  const user = { name: 'a', is_service_user: false, email: 'a@example.com', role: 'user', auto_groups: [] };
  const { id } = (await own.call('POST', '/api/users', user)).body;
  const { database } = own.engine;
  await database.asOwner([`update objects set derived = derived || '{"pending_approval": true}' where id = '${id}'`]);
  own.engine.snapshots.clear();
  const [first, again] = await twice(own, `/api/users/${id}/approve`, undefined);
  expect([first.status, again.status, again.body, isReplay(again)]).toEqual([200, 200, first.body, true]);
});

it('a restore that is retried because the server died after the commit returns the first answer', async () => {
  await using own = await scene();
  const authorization = `Token ${token}`;
  const archive = (await own.app.inject({ url: '/api/config/backup', headers: { authorization } })).rawPayload;
  await own.group('passing');
  const send = async (key: string) => {
    const headers = { authorization, 'content-type': 'application/gzip', 'idempotency-key': key };
    const url = `/api/config/restore?replace=${own.account}`;
    const answer = await own.app.inject({ method: 'POST', url, headers, payload: archive });
    // The server writes header names in lower case.
    return { status: answer.statusCode, body: answer.json(), headers: answer.headers as Answer['headers'] };
  };
  const first = await losing(own, () => send('k'));
  await expectReplayed(own, [first, await send('k')]);
  expect(first.body).toMatchObject({ account: own.account, rows: 1 });
  // The finished restore does not block the next one.
  expect((await send('another')).status).toBe(200);
  expect((await post(own, '/api/groups', { name: 'after' }, 'g')).status).toBe(200);
});
