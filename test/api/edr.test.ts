import { afterEach, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { openedSpec } from '../setup/opened.ts';
import { eventsOf } from './events.ts';
import { problemsOf } from './problems.ts';
import { sharedApi, type TestApi } from './setup.ts';

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/);

interface Vendor {
  readonly body: (groups: readonly string[]) => JsonObject;
  /** Members of the body that the answer shows, in addition to those that all vendors show. */
  readonly shown: JsonObject;
  readonly secrets: readonly string[];
}

const attributesA = {
  active_threats: 0,
  encrypted_applications: true,
  firewall_enabled: true,
  infected: false,
  is_active: true,
  is_up_to_date: false,
  network_status: 'quarantined',
  operational_state: 'na',
};
const attributesC = {
  disk_encryption_enabled: true,
  failing_policies_count_max: 0,
  vulnerable_software_count_max: 3,
  status_online: false,
  required_policies: [2, 11],
};

const vendors: Readonly<Record<string, Vendor>> = {
  'vendor-a': {
    body: (groups) => ({
      ...{ api_token: 'token-a', api_url: 'https://a.example.com/api', groups, last_synced_interval: 24 },
      match_attributes: attributesA,
    }),
    shown: { api_url: 'https://a.example.com/api', last_synced_interval: 24, match_attributes: attributesA },
    secrets: ['api_token'],
  },
  'vendor-b': {
    body: (groups) => ({ client_id: 'client', tenant_id: 'tenant', secret: 's', groups, last_synced_interval: 48 }),
    shown: { client_id: 'client', tenant_id: 'tenant', last_synced_interval: 48 },
    secrets: ['secret'],
  },
  'vendor-c': {
    body: (groups) => ({
      ...{ api_token: 'token-c', api_url: 'http://c.example.com', groups, last_synced_interval: 24 },
      match_attributes: attributesC,
    }),
    shown: { api_url: 'http://c.example.com', last_synced_interval: 24, match_attributes: attributesC },
    secrets: ['api_token'],
  },
  'vendor-d': {
    body: (groups) => ({ client_id: 'c', secret: 's', cloud_id: 'us-1', groups, zta_score_threshold: 70 }),
    shown: { cloud_id: 'us-1', zta_score_threshold: 70, last_synced_interval: 24 },
    secrets: ['client_id', 'secret'],
  },
};

const pathOf = (vendor: string) => `/api/integrations/edr/${vendor}`;

/** Returns the stored secrets, decrypted. */
async function storedSecrets(api: TestApi, names: readonly string[]): Promise<readonly string[]> {
  const state = await api.engine.snapshots.current(api.account);
  const [object] = ['A', 'B', 'C', 'D'].flatMap((letter) => state.ofKind(`EdrVendor${letter}`));
  const spec = openedSpec(api.engine, api.account, object);
  return names.map((name) => String(spec[name]));
}

describe.each(Object.entries(vendors))('the EDR integration %s', (vendor, { body, shown, secrets }) => {
  const api = sharedApi();
  const path = pathOf(vendor);
  // An account has at most one integration of a vendor.
  afterEach(() => api().call('DELETE', path));
  const masked = Object.fromEntries(secrets.map((name) => [name, '****']));

  it('is created, read, replaced and deleted without an id', async () => {
    const [peer = ''] = await api().peers('laptop');
    const group = await api().group('checked', [peer]);
    const made = await api().call('POST', path, body([group]));
    const owner = (await api().engine.snapshots.current(api().account)).ofKind('User')[0]?.id;
    const answer = {
      id: 1,
      account_id: api().account,
      created_by: owner,
      created_at: timestamp,
      updated_at: timestamp,
      groups: [(await api().call('GET', `/api/groups/${group}`)).body],
      enabled: true,
      ...shown,
    };
    expect([made.status, made.body]).toEqual([200, answer]);
    expect(made.body.groups[0].peers).toEqual([{ id: peer, name: 'Peer laptop' }]);
    expect((await api().call('GET', path)).body).toEqual(made.body);
    const off = await api().call('PUT', path, { ...body([]), enabled: false });
    expect([off.status, off.body]).toEqual([200, { ...answer, groups: [], enabled: false }]);
    expect((await api().call('PUT', path, body([]))).body.enabled).toBe(true);
    const gone = await api().call('DELETE', path);
    expect([gone.status, gone.body]).toEqual([200, {}]);
    const codes = (await eventsOf(api())).filter((event) => event.startsWith('integrated-validator'));
    expect(codes).toEqual(
      ['created', 'updated', 'updated', 'deleted'].map(
        (what) => `integrated-validator.api.${what} {"platform":"${vendor}"}`,
      ),
    );
    expect((await api().call('POST', path, body([]))).body.id).toBe(2);
  });

  it('exists at most once', async () => {
    for (const [method, value] of [['GET'], ['PUT', body([])], ['DELETE']] as [string, JsonObject?][]) {
      const none = await api().call(method, path, value);
      expect([none.status, none.body.message]).toEqual([404, expect.stringContaining('not found')]);
    }
    expect((await api().call('POST', path, body([]))).status).toBe(200);
    const second = await api().call('POST', path, body([]));
    expect([second.status, second.body.message]).toEqual([409, expect.stringContaining('already exists')]);
  });

  it('is created by one of fifty concurrent requests', async () => {
    const tries = await Promise.all(Array.from({ length: 50 }, () => api().call('POST', path, body([]))));
    const statuses = tries.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array.from({ length: 49 }, () => 409)]);
  });

  it('never returns its secrets, requires them on PUT, and keeps them when they are masked', async () => {
    const unset = await api().call('POST', path, { ...body([]), ...masked });
    expect([unset.status, problemsOf(unset)]).toEqual([422, secrets.map(() => 'field_required ')]);
    const made = await api().call('POST', path, body([]));
    const kept = await storedSecrets(api(), secrets);
    expect(kept).toEqual(secrets.map((name) => body([])[name]));
    const before = await api().revision();
    for (const back of [masked, Object.fromEntries(secrets.map((name) => [name, '']))])
      expect((await api().call('PUT', path, { ...made.body, ...back })).body).toEqual(made.body);
    expect(await api().revision()).toBe(before);
    const bare = await api().call('PUT', path, made.body);
    expect([bare.status, problemsOf(bare)]).toEqual([422, secrets.map(() => 'field_required ')]);
    await api().call('PUT', path, { ...body([]), [secrets[0] ?? '']: 'another' });
    expect((await storedSecrets(api(), secrets))[0]).toBe('another');
  });

  it('requires every mandatory field', async () => {
    for (const name of Object.keys(body([]))) {
      const { [name]: _, ...rest } = body([]);
      const answer = await api().call('POST', path, rest);
      expect([answer.status, answer.body.message]).toEqual([422, `\`${name}\` is required; add it`]);
    }
  });

  it('prevents its groups from being deleted', async () => {
    const group = await api().group('linked');
    await api().call('POST', path, body([group]));
    const refused = await api().call('DELETE', `/api/groups/${group}`);
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('linked')]);
    const unknown = await api().call('PUT', path, body(['nobody']));
    expect([unknown.status, problemsOf(unknown)]).toEqual([422, ['reference_unknown /groups/0']]);
    await api().call('DELETE', path);
    expect((await api().call('DELETE', `/api/groups/${group}`)).status).toBe(200);
  });
});

describe('the limits of EDR integrations', () => {
  const api = sharedApi();
  const attributes = (name: string, value: Json) => ({ match_attributes: { [name]: value } });
  it.each<[string, JsonObject, readonly string[]]>([
    ['vendor-a', { last_synced_interval: 24 }, []],
    ['vendor-a', { last_synced_interval: 23 }, ['value_out_of_range /last_synced_interval']],
    ['vendor-b', { last_synced_interval: 23 }, ['value_out_of_range /last_synced_interval']],
    ['vendor-c', { last_synced_interval: 23 }, ['value_out_of_range /last_synced_interval']],
    ['vendor-c', { last_synced_interval: '24' }, ['type_wrong /last_synced_interval']],
    ['vendor-a', { match_attributes: {} }, []],
    ['vendor-a', attributes('network_status', 'connected'), []],
    ['vendor-a', attributes('network_status', 'away'), ['value_not_allowed /match_attributes/network_status']],
    ['vendor-a', attributes('active_threats', -1), ['value_out_of_range /match_attributes/active_threats']],
    ['vendor-a', { api_url: 'ftp://a.example.com' }, ['url_invalid /api_url']],
    ['vendor-a', { api_url: 'https://me:pass@a.example.com' }, ['url_invalid /api_url']],
    ['vendor-c', { match_attributes: {} }, []],
    ['vendor-c', attributes('failing_policies_count_max', 0), []],
    [
      'vendor-c',
      attributes('failing_policies_count_max', -1),
      ['value_out_of_range /match_attributes/failing_policies_count_max'],
    ],
    [
      'vendor-c',
      attributes('vulnerable_software_count_max', -1),
      ['value_out_of_range /match_attributes/vulnerable_software_count_max'],
    ],
    ['vendor-c', attributes('required_policies', ['3']), ['type_wrong /match_attributes/required_policies/0']],
    ['vendor-d', { zta_score_threshold: 0 }, []],
    ['vendor-d', { zta_score_threshold: 100 }, []],
    ['vendor-d', { zta_score_threshold: 101 }, ['value_out_of_range /zta_score_threshold']],
    ['vendor-d', { zta_score_threshold: -1 }, ['value_out_of_range /zta_score_threshold']],
    ['vendor-d', { last_synced_interval: 99 }, []],
  ])('of %s with %j give the problems %j', async (vendor, more, problems) => {
    const answer = await api().call('POST', pathOf(vendor), { ...vendors[vendor]?.body([]), ...more });
    expect([answer.status, problemsOf(answer)]).toEqual([problems.length === 0 ? 200 : 422, problems]);
    if (problems.length > 0) return;
    expect(answer.body).toMatchObject(vendor === 'vendor-d' ? { ...more, last_synced_interval: 24 } : more);
    await api().call('DELETE', pathOf(vendor));
  });
});
