import { describe, expect, it } from 'vitest';
import { metrics } from '../../src/api/metrics/declared.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { doc } from './documents.ts';
import { asOperator, type TestApi, testApi } from './setup.ts';

const apply = (api: TestApi, source: string, text: string) =>
  api.call('POST', '/api/config/apply', { source, files: [{ path: 'a.yaml', text }] });

/** Creates an account with an object of every kind, half of them declared by a source. */
async function furnished(): Promise<TestApi> {
  const api = await testApi();
  const [peer = ''] = await api.peers('gate', 'laptop');
  const group = await api.group('API group', [peer]);
  const rule = {
    name: 'r',
    enabled: true,
    action: 'accept',
    bidirectional: true,
    protocol: 'tcp',
    ports: ['80', '443'],
  };
  const route = { description: '', network_id: 'office', enabled: true, peer, network: '10.0.0.0/8', metric: 5 };
  const bodies: [string, JsonObject][] = [
    ['policies', { name: 'Größe', enabled: true, rules: [{ ...rule, sources: [group], destinations: [group] }] }],
    ['routes', { ...route, masquerade: false, groups: [group], keep_route: true }],
    ['dns/zones', { name: 'Z', domain: 'z.example', enable_search_domain: true, distribution_groups: [group] }],
  ];
  for (const [path, body] of bodies) {
    const { status, body: made } = await api.call('POST', `/api/${path}`, body);
    expect(status).toBe(200);
    if (path === 'dns/zones')
      for (const content of ['10.0.0.1', '10.0.0.2'])
        await api.call('POST', `/api/${path}/${made.id}/records`, { name: 'a.z.example', type: 'A', content, ttl: 60 });
  }
  const yaml = `${doc('Group', 'developers', 'name: Developers\npeers: [laptop]')}---\n${doc('Account', 'account', 'settings: {dns_domain: mesh.example}')}`;
  expect((await apply(api, 'team', yaml)).status).toBe(200);
  return api;
}

describe('an export', () => {
  it('is YAML or JSON, and planning it changes nothing', async () => {
    await using api = await furnished();
    const yaml = await api.call('GET', '/api/config/export');
    expect(yaml.headers['content-type']).toMatch(/^application\/yaml/);
    expect(yaml.headers['cache-control']).toBe('no-store');
    const json = await api.call('GET', '/api/config/export?format=json');
    const kinds = json.body.map(({ kind }: { kind: string }) => kind);
    expect(new Set(kinds)).toEqual(new Set(['Account', 'DNSZone', 'Group', 'Peer', 'Policy', 'Route']));
    const before = await api.revision();
    const headers = { 'content-type': 'application/yaml' };
    const plan = await api.call('POST', '/api/config/plans?source=team', yaml.body, headers);
    expect([plan.status, plan.body.changes]).toEqual([201, []]);
    const files = [{ path: 'a.json', text: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: json.body }) }];
    const again = await api.call('POST', '/api/config/plans', { source: 'team', files });
    expect([again.status, again.body.changes]).toEqual([201, []]);
    expect(await api.revision()).toBe(before);
    const applied = await api.call('POST', '/api/config/apply?source=team', yaml.body, headers);
    expect([applied.body.revision, applied.body.plan.counts.claims]).toEqual([before + 1, 10]);
    expect((await api.call('POST', '/api/config/apply?source=team', yaml.body, headers)).body.revision).toBe(null);
    for (const query of ['format=xml', 'markAdopt=yes'])
      expect((await api.call('GET', `/api/config/export?${query}`)).status).toBe(422);
  });

  it('is limited to a kind or a source', async () => {
    await using api = await furnished();
    const read = async (query: string) =>
      (await api.call('GET', `/api/config/export?format=json&${query}`)).body.map(
        (document: { kind: string; metadata: { name: string } }) => `${document.kind}/${document.metadata.name}`,
      );
    expect(await read('kind=Group')).toEqual(['Group/api-group', 'Group/developers']);
    expect(await read('source=team')).toEqual(['Account/account', 'Group/developers']);
    expect(await read('source=nobody')).toEqual([]);
    const answer = await api.call('GET', '/api/config/export?kind=Grup');
    expect([answer.status, answer.body.message]).toEqual([422, expect.stringContaining('Group')]);
  });
});

describe('revisions', () => {
  it('are listed newest first, in pages', async () => {
    await using api = await testApi();
    for (const name of ['a', 'b', 'c']) await api.group(name);
    const numbers = async (query: string) =>
      (await api.call('GET', `/api/config/revisions${query}`)).body.map(
        ({ revision }: { revision: number }) => revision,
      );
    expect(await numbers('')).toEqual([4, 3, 2, 1]);
    expect(await numbers('?limit=2')).toEqual([4, 3]);
    expect(await numbers('?limit=2&before=3')).toEqual([2, 1]);
    expect(await numbers('?before=1')).toEqual([]);
    for (const wrong of ['limit=0', 'limit=x', 'before=-1', 'before=1.5'])
      expect((await api.call('GET', `/api/config/revisions?${wrong}`)).status).toBe(422);
  });

  it('that do not exist return 404', async () => {
    await using api = await testApi();
    for (const wrong of ['99', '0', '-1', 'x', '1.5', '1e3', '999999999999999', '99999999999999999999']) {
      const answer = await api.call('GET', `/api/config/revisions/${wrong}`);
      expect([answer.status, answer.body.message]).toEqual([404, expect.stringContaining('not found')]);
    }
  });

  it('show values before and after their changes', async () => {
    await using api = await testApi();
    const [peer = ''] = await api.peers('laptop');
    const id = await api.group('one', [peer]);
    await api.call('PUT', `/api/groups/${id}`, { name: 'two' });
    await api.call('DELETE', `/api/groups/${id}`);
    const [last, changed, made] = (await api.call('GET', '/api/config/revisions?limit=3')).body;
    const show = async ({ revision }: { revision: number }) =>
      (await api.call('GET', `/api/config/revisions/${revision}`)).body.changes;
    const member = (value: JsonObject) => ({ path: 'peers[laptop]', ...value });
    expect(await show(made)).toMatchObject([
      { action: 'create', kind: 'Group', id, units: [{ path: 'name', after: 'one' }, member({ after: ['api'] })] },
    ]);
    expect(await show(changed)).toMatchObject([
      { action: 'update', units: [{ path: 'name', before: 'one', after: 'two' }, member({ before: ['api'] })] },
    ]);
    expect(await show(last)).toMatchObject([{ action: 'delete', id, units: [{ path: 'name', before: 'two' }] }]);
    expect(made).toMatchObject({ actor: { type: 'user', name: 'machine owner' }, counts: { create: 1 } });
  });
});

it('a group created by YAML and the same one created by POST differ in key, owner, id and times only', async () => {
  await using api = await testApi();
  const [peer = ''] = await api.peers('laptop');
  await apply(api, 'team', doc('Group', 'by-yaml', 'name: Same\npeers: [laptop]'));
  const [yaml] = (await api.call('GET', '/api/groups?name=Same')).body;
  const ofYaml = (await api.call('GET', `/api/config/revisions/${await api.revision()}`)).body;
  const stored = (await api.engine.snapshots.current(api.account)).get(yaml.id);
  await apply(api, 'team', doc('Group', 'by-yaml', 'name: Other'));
  const post = (await api.call('POST', '/api/groups', { name: 'Same', peers: [peer] })).body;
  const ofPost = (await api.call('GET', `/api/config/revisions/${await api.revision()}`)).body;
  expect({ ...post, id: '' }).toEqual({ ...yaml, id: '' });
  const common = { action: 'create', kind: 'Group', name: 'Same' };
  expect(ofYaml.changes).toMatchObject([{ ...common, key: 'by-yaml', id: yaml.id }]);
  expect(ofPost.changes).toMatchObject([{ ...common, id: post.id }]);
  expect(ofPost.changes[0].units.map(({ path }: { path: string }) => path)).toEqual(
    ofYaml.changes[0].units.map(({ path }: { path: string }) => path),
  );
  const other = (await api.engine.snapshots.current(api.account)).get(post.id);
  const shared = ['kind', 'name', 'derived', 'protected', 'parent'] as const;
  for (const member of shared) expect(other?.[member]).toEqual(stored?.[member]);
  expect([stored?.key, other?.key, stored?.owner, other?.owner]).toEqual(['by-yaml', undefined, 'team', undefined]);
});

it('GET /api/config/sources and GET /api/config/status report the state of sources and account', async () => {
  await using api = await testApi();
  expect((await api.call('GET', '/api/config/sources')).body).toEqual([]);
  await apply(api, 'team', doc('Group', 'a', 'name: a'));
  const sources = (await api.call('GET', '/api/config/sources')).body;
  expect(sources).toMatchObject([{ id: 'team', type: 'push', objects: 1 }]);
  const { body } = await api.call('GET', '/api/config/status');
  expect(body).toMatchObject({
    account: api.account,
    revision: 2,
    version: '0.0.0-test',
    database: 'postgres',
    sources,
  });
  expect(body.objects).toMatchObject({ Account: 1, Group: 2, Policy: 1, Route: 0, DNSZone: 0, Peer: 0 });
});

it('GET /metrics returns the declared metrics in the Prometheus format', async () => {
  await using api = await testApi();
  await api.group('counted');
  await api.call('GET', '/api/groups/nothing');
  const { status, headers, body } = await api.call('GET', '/metrics', undefined, asOperator);
  expect([status, headers['content-type']]).toEqual([200, expect.stringMatching(/^text\/plain; version=0\.0\.4/)]);
  expect(body).toContain('heddle_config_ops_total{kind="Group",action="create"} 1');
  expect(body).toMatch(
    /^heddle_http_request_seconds_count\{method="GET",route="\/api\/groups\/:id",status="404"\} 1$/m,
  );
  expect(body).toMatch(/^heddle_process_resident_memory_bytes \d+$/m);
  const described = [...body.matchAll(/^# HELP (\w+) /gm)].map(([, name]) => name);
  expect(described.sort()).toEqual(Object.keys(metrics).sort());
  for (const line of body.split('\n')) expect(line).toMatch(/^(#.*|\w+(\{.*\})? [\d.e+-]+|)$/);
});

it('the API works on the embedded database', async () => {
  await using api = await testApi('embedded');
  const id = await api.group('embedded');
  expect((await api.call('POST', '/api/groups', { name: 'embedded' })).status).toBe(409);
  expect((await apply(api, 'team', doc('Group', 'a', 'name: a'))).body.revision).toBe(3);
  expect((await api.call('DELETE', `/api/groups/${id}`)).status).toBe(200);
  expect((await api.call('GET', '/readyz')).body).toEqual({ status: 'ready' });
});
