import { expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { problemsOf } from './problems.ts';
import { sharedApi, testApi } from './setup.ts';

const from = { valueFrom: { envRef: 'HEDDLE_VALUE_X' } };
const edr = { groups: ['staff'], last_synced_interval: 24 };

/** A valid spec of each kind. Tests change one member to an invalid value and check the code of the refusal. */
const specs: Readonly<Record<string, JsonObject>> = {
  EdrVendorA: { ...edr, api_token: from, api_url: 'https://a.example.com', match_attributes: { infected: false } },
  EdrVendorB: { ...edr, client_id: 'c', tenant_id: 't', secret: from },
  EdrVendorC: {
    ...edr,
    api_token: from,
    api_url: 'https://c.example.com',
    match_attributes: { required_policies: [7] },
  },
  EdrVendorD: { groups: ['staff'], client_id: from, secret: from, cloud_id: 'eu-1', zta_score_threshold: 100 },
  DirectoryIntegration: {
    client_secret: from,
    client_id: 'c',
    tenant_id: 't',
    host: 'h.example.com',
    sync_interval: 300,
  },
  ScimIntegration: { prefix: 'p', provider: 'entra', group_prefixes: ['b', 'a'] },
  NotificationChannel: {
    type: 'webhook',
    target: { url: 'https://x.example.com', headers: { Authorization: from } },
    event_types: ['user.join'],
  },
  EventStreaming: {
    platform: 's3',
    config: { access_key: from, secret_key: from, bucket_name: 'b', region: 'r' },
  },
};
const group: JsonObject = { apiVersion: 'heddle.dev/v1', kind: 'Group', metadata: { name: 'staff' }, spec: {} };

function source(specs: Readonly<Record<string, JsonObject>>, value = 'c2VjcmV0'): Json {
  const documents = Object.entries(specs).map(([kind, spec]) => ({
    ...{ apiVersion: 'heddle.dev/v1', kind, spec },
    metadata: { name: `the-${kind.toLowerCase()}` },
  }));
  const text = JSON.stringify({ apiVersion: 'heddle.dev/v1', kind: 'List', items: [group, ...documents] });
  return { source: 'git', files: [{ path: 'all.json', text }], values: { 'env:HEDDLE_VALUE_X': value } };
}

const shared = sharedApi();
const text = (files: string) => ({ source: 'other', files: [{ path: 'all.yaml', text: files }] });
const none = { create: 0, update: 0, delete: 0 };

it('documents of all integrations are applied, plan no changes afterwards, and follow changed values', async () => {
  await using api = await testApi();
  const applied = await api.call('POST', '/api/config/apply', source(specs));
  expect([applied.status, problemsOf(applied)]).toEqual([200, []]);
  expect(applied.body.outputs).toEqual([
    { kind: 'ScimIntegration', key: 'the-scimintegration', field: 'auth_token', value: expect.stringMatching(/^nbs_/) },
  ]);
  expect((await api.call('GET', '/api/integrations/edr/vendor-d')).body).toMatchObject({ id: 1, cloud_id: 'eu-1' });
  const [channel] = (await api.call('GET', '/api/integrations/notifications/channels')).body;
  expect(channel.target).toEqual({ url: 'https://x.example.com', headers: { Authorization: '****' } });
  const [stream] = (await api.call('GET', '/api/event-streaming')).body;
  expect(stream.config).toMatchObject({ access_key: '****', bucket_name: 'b' });
  expect((await api.call('POST', '/api/config/plans', source(specs))).body.counts).toEqual({ ...none, claims: 0 });
  const rotated = await api.call('POST', '/api/config/plans', source(specs, 'b3RoZXI='));
  expect(rotated.body.counts).toEqual({ ...none, update: 7, claims: 0 });
  expect(JSON.stringify(rotated.body)).not.toMatch(/b3RoZXI|c2VjcmV0|sealed:/);
});

it('an export of integrations created through the API plans only claims, and contains no secret', async () => {
  await using api = await testApi();
  const group = await api.group('staff');
  const sent = (spec: JsonObject): JsonObject =>
    JSON.parse(JSON.stringify(spec).replaceAll(JSON.stringify(from), '"c2VjcmV0"'));
  for (const [kind, spec] of Object.entries(specs)) {
    const more = { enabled: true, ...('groups' in spec ? { groups: [group] } : {}) };
    const answer = await api.call('POST', api.engine.registry.get(kind).path ?? '', { ...sent(spec), ...more });
    expect([kind, answer.status, problemsOf(answer)]).toEqual([kind, 200, []]);
  }
  const exported = (await api.call('GET', '/api/config/export')).body;
  expect(exported).not.toContain('c2VjcmV0');
  const plan = await api.call('POST', '/api/config/plans', text(exported));
  expect([problemsOf(plan), plan.body.counts]).toEqual([[], { ...none, claims: expect.any(Number) }]);
  expect((await api.call('POST', '/api/config/apply', text(exported))).status).toBe(200);
  expect((await api.call('POST', '/api/config/plans', text(exported))).body.counts).toEqual({ ...none, claims: 0 });
});

it('a document adopts the existing integration of its kind when the values are equal, and is refused otherwise', async () => {
  await using api = await testApi();
  const body = { client_id: 'c', tenant_id: 't', secret: 'c2VjcmV0', groups: [], last_synced_interval: 24 };
  await api.call('POST', '/api/integrations/edr/vendor-b', body);
  const stated = { client_id: 'c', tenant_id: 't', secret: from, groups: [], last_synced_interval: 24 };
  const same = await api.call('POST', '/api/config/plans', source({ EdrVendorB: stated }));
  expect(same.body.counts).toEqual({ ...none, create: 1, claims: 1 });
  const other = await api.call('POST', '/api/config/plans', source({ EdrVendorB: { ...stated, tenant_id: 'u' } }));
  expect([other.status, problemsOf(other)]).toEqual([422, ['object_exists /spec']]);
});

it.each<[string, JsonObject, string]>([
  ['EdrVendorA', { last_synced_interval: 23 }, 'value_out_of_range /spec/last_synced_interval'],
  ['EdrVendorA', { api_token: 'literal' }, 'secret_literal /spec/api_token'],
  ['EdrVendorB', { last_synced_interval: 23 }, 'value_out_of_range /spec/last_synced_interval'],
  ['EdrVendorC', { last_synced_interval: 23 }, 'value_out_of_range /spec/last_synced_interval'],
  [
    'EdrVendorC',
    { match_attributes: { vulnerable_software_count_max: -1 } },
    'value_out_of_range /spec/match_attributes/vulnerable_software_count_max',
  ],
  ['EdrVendorD', { zta_score_threshold: 101 }, 'value_out_of_range /spec/zta_score_threshold'],
  ['EdrVendorD', { last_synced_interval: 24 }, 'field_unknown /spec/last_synced_interval'],
  ['DirectoryIntegration', { sync_interval: 299 }, 'value_out_of_range /spec/sync_interval'],
  ['ScimIntegration', { auth_token: 'nbs_x' }, 'field_unknown /spec/auth_token'],
  ['NotificationChannel', { event_types: ['user.jion'] }, 'event_type_invalid /spec/event_types/0'],
  ['NotificationChannel', { type: 'email' }, 'channel_target_incomplete /spec/target'],
  ['EventStreaming', { platform: 'splunk' }, 'value_not_allowed /spec/platform'],
  ['EventStreaming', { platform: 'firehose' }, 'stream_key_required /spec/config'],
  [
    'EventStreaming',
    { config: { access_key: from, secret_key: from, bucket_name: from, region: 'r' } },
    'type_wrong /spec/config/bucket_name',
  ],
])('a document of %s with %j is refused: %s', async (kind, more, problem) => {
  const answer = await shared().call('POST', '/api/config/plans', source({ [kind]: { ...specs[kind], ...more } }));
  expect([answer.status, problemsOf(answer)]).toEqual([422, expect.arrayContaining([problem])]);
});

it('a secret that is not Base64 is refused at the field of the document, without being shown', async () => {
  const answer = await shared().call(
    'POST',
    '/api/config/plans',
    source({ DirectoryIntegration: specs['DirectoryIntegration'] ?? {} }, 'no base64'),
  );
  expect([answer.status, problemsOf(answer)]).toEqual([422, ['base64_invalid /spec/client_secret']]);
  expect(JSON.stringify(answer.body)).not.toContain('no base64');
});

it('the platform of an event stream cannot be changed in its document', async () => {
  const api = shared();
  const s3 = specs['EventStreaming'] ?? {};
  await api.call('POST', '/api/config/apply', source({ EventStreaming: s3 }));
  const moved = await api.call('POST', '/api/config/plans', source({ EventStreaming: { ...s3, platform: 'datadog' } }));
  expect([moved.status, problemsOf(moved)]).toEqual([422, ['field_fixed /spec/platform']]);
});
