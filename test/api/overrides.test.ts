import { expect, it } from 'vitest';
import { createObject } from '../../src/objects/objects.ts';
import { endOverrides } from '../../src/objects/overrides.ts';
import { doc } from './documents.ts';
import { sharedApi, type TestApi } from './setup.ts';

const policy = doc(
  'Policy',
  'web',
  `enabled: true
rules:
  - name: http
    action: accept
    protocol: tcp
    ports: ["80"]
    bidirectional: false
    sources: [developers]
    destinations: [All]`,
);
const text = [policy, doc('Group', 'developers', '{}'), doc('Group', 'operators', '{}')].join('---\n');
const list = '/api/config/overrides';
const of = { kind: 'Policy', name: 'web' };
const asked = { ...of, reason: 'incident 4711' };

const shared = sharedApi();

/** Returns the server, with the documents applied and without overrides. */
async function scene(): Promise<TestApi> {
  const api = shared();
  await tomorrow(api);
  const applied = await api.call('POST', '/api/config/apply', { source: 'team', files: [{ path: 'a.yaml', text }] });
  expect(applied.status).toBe(200);
  return api;
}

async function ruleNow(api: TestApi) {
  const policies = (await api.call('GET', '/api/policies')).body;
  return policies.find(({ name }: { name: string }) => name === 'web').rules[0];
}

/** Ends overrides as of 25 hours from now. */
async function tomorrow({ engine, account }: TestApi): Promise<void> {
  const now = () => new Date(Date.now() + 25 * 3_600_000).toISOString();
  await endOverrides({ ...engine, now, databaseTime: async () => now() }, account);
}

it('an override changes a field of one entry, takes names instead of ids, and ends with the entry of the source', async () => {
  const api = await scene();
  const before = await ruleNow(api);
  const made = await api.call('POST', list, { ...asked, values: { 'rules[http].sources': ['operators'] } });
  expect([made.status, made.body]).toMatchObject([
    200,
    {
      overrides: [{ kind: 'Policy', key: 'web', path: 'rules[http]', by: 'machine owner', source: 'team' }],
      lasting: [],
    },
  ]);
  const during = await ruleNow(api);
  expect(during.sources.map(({ name }: { name: string }) => name)).toEqual(['operators']);
  expect(during.id).toBe(before.id);
  const events = (await api.call('GET', '/api/events/audit')).body.map(
    (event: { activity_code: string }) => event.activity_code,
  );
  expect(events).toContain('config.override.created');
  await tomorrow(api);
  expect(await ruleNow(api)).toEqual(before);
  expect((await api.call('GET', list)).body.overrides).toEqual([]);
});

it('an entry that an override added to a list is removed when the override ends', async () => {
  const api = await scene();
  const extra = { name: 'extra', enabled: true, action: 'accept', protocol: 'all', bidirectional: true };
  const entry = { ...extra, sources: ['operators'], destinations: ['All'] };
  const made = await api.call('POST', list, { ...asked, values: { 'rules[extra]': entry } });
  expect([made.status, made.body.message]).toEqual([200, undefined]);
  const rules = async () =>
    (await api.call('GET', '/api/policies')).body.find(({ name }: { name: string }) => name === 'web').rules.length;
  expect(await rules()).toBe(2);
  await tomorrow(api);
  expect(await rules()).toBe(1);
});

it('an override that adds an unknown peer to a group is refused', async () => {
  const api = await scene();
  const peerless = await api.call('POST', list, {
    ...{ kind: 'Group', name: 'developers', reason: 'why' },
    values: { 'peers[nobody]': true },
  });
  expect([peerless.status, peerless.body.problems]).toMatchObject([
    422,
    [{ code: 'reference_unknown', path: '/peers[nobody]', message: 'no Peer is called nobody' }],
  ]);
});

it('a service user can neither make nor end an override', async () => {
  const api = await scene();
  const before = await api.revision();
  const values = { enabled: true };
  const body = { name: 'helper', role: 'network_admin', is_service_user: true, auto_groups: [] };
  const call = { account: api.account, revision: 0, actor: { type: 'system', id: 'sys', name: 'system' } } as const;
  const { object } = await createObject(api.engine, call, api.engine.registry.get('User'), body, { strict: false });
  expect(await api.revision()).toBe(before + 1);
  const tokens = `/api/users/${object.id}/tokens`;
  const { body: token } = await api.call('POST', tokens, { name: 't', expires_in: 30 });
  const headers = { authorization: `Token ${token.plain_token}` };
  for (const [url, sent] of [
    [list, { ...asked, values }],
    [`${list}/end`, of],
  ] as const)
    expect((await api.call('POST', url, sent, headers)).status).toBe(403);
});

it.each([
  [{ ...asked, values: {} }, 422, '`values` must be'],
  [{ ...of, values: { enabled: false } }, 422, '`reason` is required; add it'],
  [{ ...asked, values: { enabled: false }, ttl: '25h' }, 422, 'ttl may be at most 24h'],
  [{ ...asked, values: { 'rules[none].enabled': false } }, 422, 'names an entry that does not exist; there are http'],
  [{ ...asked, values: { 'rules[http].sourcs': [] } }, 422, 'did you mean `sources`?'],
  [{ ...asked, values: { '..': 1 } }, 422, '`..` is not the path of a field'],
  [{ ...asked, kind: 'Nothing', values: { enabled: false } }, 422, 'unknown kind Nothing'],
  [{ ...asked, name: 'wob', values: { enabled: false } }, 404, 'did you mean web?'],
])('the override %j is refused with %i', async (body, status, reported) => {
  const api = await scene();
  const before = await api.revision();
  const answer = await api.call('POST', list, body);
  expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(reported)]);
  expect(await api.revision()).toBe(before);
});

it('a plan shows the overrides of its source, and none to other sources', async () => {
  const api = await scene();
  expect((await api.call('POST', list, { ...asked, values: { description: 'held' } })).body.problems).toMatchObject([
    { code: 'not_stated' },
  ]);
  await api.call('POST', list, { ...asked, values: { 'rules[http].ports': ['8080'] } });
  const files = [{ path: 'a.yaml', text }];
  const mine = await api.call('POST', '/api/config/plans', { source: 'team', files });
  expect(mine.body.overrides).toMatchObject([{ path: 'rules[http]', reason: 'incident 4711' }]);
  const again = await api.call('GET', `/api/config/plans/${mine.body.id}`);
  expect(again.body.overrides).toEqual(mine.body.overrides);
  const other = await api.call('POST', '/api/config/plans', { source: 'other', files: [] });
  expect(other.body).not.toHaveProperty('overrides');
});

it('an override that restricts is applied for good and reported as `lasting`', async () => {
  const api = await scene();
  const key = doc('SetupKey', 'bern', 'type: reusable\nexpires_in: 86400\nusage_limit: 0\nrevoked: false');
  await api.call('POST', '/api/config/apply', { source: 'keys', files: [{ path: 'k.yaml', text: key }] });
  const values = { revoked: true };
  const made = await api.call('POST', list, { kind: 'SetupKey', name: 'bern', reason: 'stolen', values });
  expect([made.status, made.body]).toMatchObject([200, { overrides: [], lasting: ['revoked'] }]);
});

it('an override shows no secret in its refusal, its answer, the list or a plan', async () => {
  const api = await scene();
  const vendor = 'client_id: c\ntenant_id: t\ngroups: []\nlast_synced_interval: 24';
  const stated = doc('EdrVendorB', 'vendor-b', `${vendor}\nsecret: { valueFrom: { envRef: HEDDLE_VALUE_B } }`);
  const files = [{ path: 'v.yaml', text: stated }];
  const sent = { source: 'edr', files, values: { 'env:HEDDLE_VALUE_B': 'the first one' } };
  expect((await api.call('POST', '/api/config/apply', sent)).status).toBe(200);
  const kind = api.engine.registry.get('EdrVendorB');
  const { body: now } = await api.call('GET', kind.path ?? '');
  const refused = await api.call('PUT', kind.path ?? '', { ...now, secret: 'the second one' });
  expect([refused.status, refused.body.message]).toEqual([
    409,
    expect.stringContaining('heddle override EdrVendorB vendor-b secret=VALUE --reason REASON'),
  ]);
  const named = { kind: 'EdrVendorB', name: 'vendor-b', reason: 'line down' };
  const made = await api.call('POST', list, { ...named, values: { secret: 'the second one' } });
  expect(made.body.overrides).toMatchObject([{ path: 'secret' }]);
  const seen = [refused, made, await api.call('GET', list), await api.call('POST', '/api/config/plans', sent)];
  expect(JSON.stringify(seen.map(({ body }) => body))).not.toMatch(/the (first|second) one|sealed/);
});
