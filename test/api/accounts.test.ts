import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { putObjects } from '../setup/objects.ts';
import { doc } from './documents.ts';
import { problemsOf } from './problems.ts';
import { sharedApi, testApi } from './setup.ts';

const api = sharedApi();
const read = async (of = api()) => (await of.call('GET', '/api/accounts')).body[0];
const put = (settings: JsonObject, more: JsonObject = {}) =>
  api().call('PUT', `/api/accounts/${api().account}`, { settings, ...more });
const required: JsonObject = {
  peer_login_expiration_enabled: true,
  peer_login_expiration: 86400,
  peer_inactivity_expiration_enabled: false,
  peer_inactivity_expiration: 600,
  regular_users_view_blocked: true,
  peer_expose_enabled: false,
  peer_expose_groups: [],
};
const extra: JsonObject = {
  peer_approval_enabled: false,
  user_approval_required: true,
  network_traffic_logs_enabled: false,
  network_traffic_logs_groups: [],
  network_traffic_packet_counter_enabled: false,
};
const without = (value: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([member]) => member !== name));

it('GET /api/accounts returns one account with all its settings', async () => {
  await using own = await testApi();
  const { status, body } = await own.call('GET', '/api/accounts');
  expect([status, body.length]).toEqual([200, 1]);
  expect(body[0]).toMatchObject({
    id: own.account,
    domain: '',
    domain_category: '',
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    created_by: expect.stringMatching(/^[0-9a-v]{20}$/),
    onboarding: { signup_form_pending: true, onboarding_flow_pending: true },
    settings: {
      ...required,
      extra,
      groups_propagation_enabled: true,
      jwt_groups_enabled: false,
      jwt_groups_claim_name: '',
      jwt_allow_groups: [],
      routing_peer_dns_resolution_enabled: true,
      dns_domain: '',
      network_range: expect.stringMatching(/^100\.\d+\.0\.0\/16$/),
      lazy_connection_enabled: true,
      auto_update_version: 'disabled',
    },
  });
});

it('PUT /api/accounts/{id} with the unchanged answer of GET writes nothing', async () => {
  const account = await read();
  const before = await api().revision();
  const same = await api().call('PUT', `/api/accounts/${account.id}`, account);
  expect([same.status, same.body]).toEqual([200, account]);
  expect(same.headers['heddle-ignored']).toBeUndefined();
  expect(await api().revision()).toBe(before);
});

it('PUT /api/accounts/{id} replaces settings, but keeps omitted `extra`, `network_range` and `onboarding`', async () => {
  const group = await api().group('logged');
  const more = { ...extra, user_approval_required: false, network_traffic_logs_groups: [group] };
  const changed = await put(
    {
      ...required,
      extra: more,
      network_range: '100.80.0.0/16',
      lazy_connection_enabled: false,
      dns_domain: 'Mesh.Example',
    },
    { onboarding: { signup_form_pending: false, onboarding_flow_pending: true } },
  );
  expect(changed.body.settings).toMatchObject({
    extra: more,
    network_range: '100.80.0.0/16',
    dns_domain: 'Mesh.Example',
  });
  const kept = (await put(required)).body;
  expect(kept.settings).toMatchObject({ extra: more, network_range: '100.80.0.0/16' });
  expect(kept.settings).toMatchObject({ lazy_connection_enabled: true, dns_domain: '' });
  expect(kept.onboarding).toEqual({ signup_form_pending: false, onboarding_flow_pending: true });
  for (const absent of [null, ''])
    expect((await put({ ...required, network_range: absent })).body.settings.network_range).toBe('100.80.0.0/16');
  expect((await put({ ...required, extra: null }, { onboarding: null })).body).toEqual(kept);
});

it('PUT /api/accounts/{id} keeps omitted settings outside the specification, and clears them when they are empty', async () => {
  await using own = await testApi();
  const [peer = ''] = await own.peers('six');
  const group = await own.group('six', [peer]);
  const write = (settings: JsonObject) => own.call('PUT', `/api/accounts/${own.account}`, { settings });
  const beyond = { ipv6_enabled_groups: [group], network_range_v6: 'fd00:1:2:3::/64' };
  expect((await write({ ...required, ...beyond })).body.settings).toMatchObject(beyond);
  const { ipv6 } = (await own.call('GET', `/api/peers/${peer}`)).body;
  expect(ipv6).toMatch(/^fd00:1:2:3:/);
  const changed = await write({ ...required, peer_login_expiration: 7200 });
  expect(changed.body.settings).toMatchObject({ ...beyond, peer_login_expiration: 7200 });
  expect((await own.call('GET', `/api/peers/${peer}`)).body.ipv6).toBe(ipv6);
  expect((await write({ ...required, ipv6_enabled_groups: [] })).body.settings.ipv6_enabled_groups).toEqual([]);
  expect((await own.call('GET', `/api/peers/${peer}`)).body).not.toHaveProperty('ipv6', ipv6);
});

describe('PUT /api/accounts/{id} without a required member', () => {
  it('requires `settings`', async () => {
    const answer = await api().call('PUT', `/api/accounts/${api().account}`, {});
    expect([answer.status, answer.body.message]).toEqual([422, '`settings` is required; add it']);
  });

  it.each(Object.keys(required))('requires %s', async (name) => {
    const answer = await put(without(required, name));
    const listed = ['peer_expose_groups'].includes(name);
    expect([answer.status, answer.body.message]).toEqual([422, `\`${name}\` is required; add it`]);
    expect((await put({ ...required, [name]: null })).status).toBe(listed ? 200 : 422);
  });

  it.each(Object.keys(extra))('requires %s inside `extra`', async (name) => {
    const answer = await put({ ...required, extra: without(extra, name) });
    expect([answer.status, problemsOf(answer)]).toEqual([422, ['field_required /settings/extra']]);
  });
});

it.each([
  [{ peer_login_expiration: 3599 }, ['value_out_of_range /settings/peer_login_expiration']],
  [{ peer_login_expiration: 15552001 }, ['value_out_of_range /settings/peer_login_expiration']],
  [{ peer_login_expiration: '86400' }, ['type_wrong /settings/peer_login_expiration']],
  [{ peer_login_expiration_enabled: 'true' }, ['type_wrong /settings/peer_login_expiration_enabled']],
  [{ peer_inactivity_expiration: -1 }, ['value_out_of_range /settings/peer_inactivity_expiration']],
  [{ peer_expose_groups: ['nobody'] }, ['reference_unknown /settings/peer_expose_groups/0']],
  [{ jwt_allow_groups: 'x' }, ['type_wrong /settings/jwt_allow_groups']],
  [{ dns_domain: 'not a domain' }, ['domain_invalid /settings/dns_domain']],
  [{ network_range: '100.80.0.1/16' }, ['cidr_invalid /settings/network_range']],
  [{ network_range: 'fd00::/64' }, ['network_range_invalid /settings/network_range']],
  [{ network_range: '100.80.0.0/29' }, ['network_range_invalid /settings/network_range']],
  [{ network_range: '127.0.0.0/8' }, ['network_range_invalid /settings/network_range']],
  [{ auto_update_version: 'newest' }, ['version_invalid /settings/auto_update_version']],
  [{ extra: 'x' }, ['type_wrong /settings/extra']],
] as [JsonObject, string[]][])('PUT /api/accounts/{id} refuses %j', async (more, problems) => {
  const before = await api().revision();
  const answer = await put({ ...required, ...more });
  expect([answer.status, problemsOf(answer)]).toEqual([422, problems]);
  expect(await api().revision()).toBe(before);
});

it.each([
  { peer_login_expiration: 3600 },
  { peer_login_expiration: 15552000 },
  { peer_inactivity_expiration: 0 },
  { network_range: '100.90.0.0/28' },
  { network_range: '10.0.0.0/8' },
  { auto_update_version: 'latest' },
  { auto_update_version: '1.2.3-rc.1' },
  { peer_expose_enabled: true, peer_expose_groups: [] },
])('PUT /api/accounts/{id} accepts %j', async (more) => {
  expect((await put({ ...required, ...more } as JsonObject)).status).toBe(200);
});

it('PUT /api/accounts/{id} refuses the domain of a DNS zone as `dns_domain`', async () => {
  const group = await api().group('zoned');
  const zone = { name: 'Z', domain: 'zoned.example', enable_search_domain: false, distribution_groups: [group] };
  expect((await api().call('POST', '/api/dns/zones', zone)).status).toBe(200);
  const answer = await put({ ...required, dns_domain: 'zoned.example' });
  expect([answer.status, problemsOf(answer)]).toEqual([422, ['account_dns_domain_taken /settings/dns_domain']]);
});

it('another account returns 404, and creating one or reading one by id returns 405', async () => {
  expect((await api().call('PUT', '/api/accounts/other', { settings: required })).status).toBe(404);
  expect((await api().call('POST', '/api/accounts', { settings: required })).status).toBe(405);
  expect((await api().call('GET', `/api/accounts/${api().account}`)).status).toBe(405);
});

it.each<readonly [string, Json, Json]>([
  ['auto_update_always', false, true],
  ['metrics_push_enabled', false, true],
  ['agent_network_only', false, true],
  ['dashboard_features', { agent_network: false }, { agent_network: true }],
])(
  'the unavailable setting %s is accepted only as off and then read back, otherwise refused with `setting_unavailable`',
  async (name, off, on) => {
    for (const value of [off, null]) {
      const answer = await put({ ...required, [name]: value });
      expect([answer.status, answer.headers['heddle-ignored']]).toEqual([200, undefined]);
    }
    expect((await read(api())).settings).not.toHaveProperty(name);
    for (const _ of [1, 2])
      expect((await put({ ...required, [name]: off })).body.settings).toMatchObject({ [name]: off });
    expect((await read(api())).settings).toMatchObject({ [name]: off });
    const before = await api().revision();
    await put((await read(api())).settings);
    const refused = await put({ ...required, [name]: on });
    expect([refused.status, problemsOf(refused)]).toEqual([422, [`setting_unavailable /settings/${name}`]]);
    expect(await api().revision()).toBe(before);
  },
);

it('PUT /api/accounts/{id} with the answer of GET writes nothing when the stored account lacks a newer setting', async () => {
  await using own = await testApi();
  const account = await read(own);
  expect(account.settings.local_mfa_enabled).toBe(false);
  await putObjects(own.engine, own.account, (state) => {
    const [stored] = state.ofKind('Account');
    if (stored === undefined) return [];
    const { local_mfa_enabled: _, ...settings } = stored.spec['settings'] as JsonObject;
    return [{ ...stored, spec: { ...stored.spec, settings } }];
  });
  const before = await own.revision();
  expect((await read(own)).settings).toEqual(account.settings);
  const { settings, onboarding } = account;
  expect((await own.call('PUT', `/api/accounts/${own.account}`, { settings, onboarding })).status).toBe(200);
  expect(await own.revision()).toBe(before);
});

it('PUT /api/accounts/{id} ignores read-only members, and reports unknown ones in Heddle-Ignored', async () => {
  const answer = await put(required, { domain: 'x.example', domain_category: 'private', created_by: 'me', colour: 1 });
  expect(answer.body).toMatchObject({ domain: '', domain_category: '' });
  expect(answer.headers['heddle-ignored']).toBe('/colour');
});

it('a public network range is accepted over the API with a notice, and from documents only with an approval', async () => {
  await using own = await testApi();
  const { settings } = await read(own);
  const set = (change: JsonObject) =>
    own.call('PUT', `/api/accounts/${own.account}`, { settings: { ...settings, ...change } });
  for (const network_range of ['100.64.0.0/10', '10.7.0.0/16', '192.168.0.0/20', '172.16.0.0/12'])
    expect((await set({ network_range })).headers).not.toHaveProperty('heddle-notice');
  const reported = await set({ network_range: '203.0.113.0/24' });
  expect([reported.status, reported.headers['heddle-notice']]).toEqual([
    200,
    expect.stringContaining('network_range becomes 203.0.113.0/24, which is public'),
  ]);
  expect((await set({ network_range: '203.0.113.0/24' })).headers).not.toHaveProperty('heddle-notice');
  expect((await set({ network_range: '10.7.0.0/16' })).status).toBe(200);

  const push = (range: string, more: JsonObject = {}) =>
    own.call('POST', '/api/config/apply?adopt=take', {
      ...{
        source: 'net',
        files: [{ path: 'a.yaml', text: doc('Account', 'account', `settings: {network_range: ${range}}`) }],
      },
      ...more,
    });
  expect((await push('10.8.0.0/16')).status).toBe(200);
  const refused = await push('8.8.0.0/16');
  expect([refused.status, refused.body.plan.guards]).toMatchObject([428, [{ guard: 'sensitive' }]]);
  expect((await read(own)).settings.network_range).toBe('10.8.0.0/16');
  const approved = await push('8.8.0.0/16', { approve: refused.body.plan.digest });
  expect([approved.status, (await read(own)).settings.network_range]).toEqual([200, '8.8.0.0/16']);
});
