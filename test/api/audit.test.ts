import { expect, it } from 'vitest';
import { queryBuilder } from '../../src/db/builder.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { type TestApi, testApi } from './setup.ts';

/** Runs the work and returns the audit events that it caused, in order, without their ids and times. */
async function eventsOf(api: TestApi, work: () => Promise<unknown>): Promise<readonly JsonObject[]> {
  const before = (await readEvents(api)).length;
  await work();
  return (await readEvents(api)).slice(before).map(({ activity_code, target_id, meta }) => ({
    code: activity_code,
    target: target_id,
    meta,
  }));
}

async function readEvents({ engine, account }: TestApi) {
  const query = queryBuilder.selectFrom('audit_events').selectAll().where('account_id', '=', account).orderBy('id');
  const [rows] = await engine.database.inAccount(account, [query.compile()]);
  return rows;
}

it('a new account has the audit events of its creation', async () => {
  await using api = await testApi();
  const codes = (await readEvents(api)).map((event) => event.activity_code).sort();
  expect(codes).toEqual(['account.create', 'group.add', 'policy.add', 'user.create']);
});

it('audit events name the actor and the revision, and are numbered from 1', async () => {
  await using api = await testApi();
  await api.group('a');
  const events = await readEvents(api);
  expect(events.map(({ id }) => id)).toEqual(events.map((_, at) => at + 1));
  const [owner] = (await api.engine.snapshots.current(api.account)).ofKind('User');
  expect(events.at(-1)).toMatchObject({ revision: 2, initiator_id: owner?.id, initiator_name: 'machine owner' });
});

it('creating, changing and deleting a group writes audit events', async () => {
  await using api = await testApi();
  const [peer = '', other = ''] = await api.peers('one', 'two');
  let id = '';
  const member = (label: string, group: string) => ({
    group,
    group_id: id,
    peer_ip: label === 'one' ? '100.64.0.1' : '100.64.0.2',
    peer_fqdn: `${label}.heddle.internal`,
  });
  const added = await eventsOf(api, async () => {
    id = await api.group('g', [peer]);
  });
  expect(added).toEqual([
    { code: 'group.add', target: id, meta: { name: 'g' } },
    { code: 'peer.group.add', target: peer, meta: member('one', 'g') },
  ]);
  const put = (body: JsonObject) => eventsOf(api, () => api.call('PUT', `/api/groups/${id}`, body));
  expect(await put({ name: 'g', peers: [peer] })).toEqual([]);
  expect(await put({ name: 'h', peers: [other] })).toEqual([
    { code: 'group.update', target: id, meta: { old_name: 'g', new_name: 'h' } },
    { code: 'peer.group.add', target: other, meta: member('two', 'h') },
    { code: 'peer.group.delete', target: peer, meta: member('one', 'h') },
  ]);
  const gone = await eventsOf(api, () => api.call('DELETE', `/api/groups/${id}`));
  expect(gone).toContainEqual({ code: 'group.delete', target: id, meta: { name: 'h' } });
});

it('changes of policies, routes, zones and records write audit events', async () => {
  await using api = await testApi();
  const [peer = ''] = await api.peers('one');
  const group = await api.group('g');
  const rule = { name: 'r', enabled: true, action: 'accept', bidirectional: false, protocol: 'all' };
  const policy = { name: 'P', enabled: true, rules: [{ ...rule, sources: [group], destinations: [group] }] };
  const route = { description: '', network_id: 'office', enabled: true, peer, network: '10.0.0.0/8', metric: 1 };
  const zone = { name: 'Z', domain: 'z.example', enable_search_domain: false, distribution_groups: [group] };
  const record = { name: 'a.z.example', type: 'A', content: '10.0.0.1', ttl: 5 };
  const flags = { masquerade: true, groups: [group], keep_route: false };
  expect(await lifeOf(api, '/api/policies', policy, { enabled: false })).toEqual([
    ['policy.add', { name: 'P' }],
    ['policy.update', { name: 'P' }],
    ['policy.delete', { name: 'P' }],
  ]);
  const routeMeta = { name: 'office', network_range: '10.0.0.0/8', domains: '', peer_id: peer, peer_groups: '' };
  expect(await lifeOf(api, '/api/routes', { ...route, ...flags }, { metric: 2 })).toEqual(
    ['route.add', 'route.update', 'route.delete'].map((code) => [code, routeMeta]),
  );
  const zoneMeta = { name: 'Z', domain: 'z.example' };
  expect(await lifeOf(api, '/api/dns/zones', zone, { enabled: false })).toEqual(
    ['dns.zone.create', 'dns.zone.update', 'dns.zone.delete'].map((code) => [code, zoneMeta]),
  );
  const { id } = (await api.call('POST', '/api/dns/zones', zone)).body;
  const recordMeta = { name: 'a.z.example', type: 'A', content: '10.0.0.1', zone_id: id, zone_name: 'Z' };
  expect(await lifeOf(api, `/api/dns/zones/${id}/records`, record, { ttl: 6 })).toEqual([
    ['dns.zone.record.create', { ...recordMeta, ttl: '5' }],
    ['dns.zone.record.update', { ...recordMeta, ttl: '6' }],
    ['dns.zone.record.delete', { ...recordMeta, ttl: '6' }],
  ]);
  await api.call('POST', `/api/dns/zones/${id}/records`, record);
  const gone = await eventsOf(api, () => api.call('DELETE', `/api/dns/zones/${id}`));
  expect(gone.map(({ code }) => code)).toEqual(['dns.zone.record.delete', 'dns.zone.delete']);
});

/** Creates, changes and deletes an object. Returns the code and meta of each event. */
async function lifeOf(api: TestApi, path: string, body: JsonObject, change: JsonObject) {
  let id = '';
  const events = await eventsOf(api, async () => {
    id = (await api.call('POST', path, body)).body.id;
    await api.call('PUT', `${path}/${id}`, { ...body, ...change });
    await api.call('PUT', `${path}/${id}`, { ...body, ...change });
    await api.call('DELETE', `${path}/${id}`);
  });
  expect(events.map(({ target }) => target)).toEqual([id, id, id]);
  return events.map(({ code, meta }) => [code, meta]);
}

it('changes of account settings write audit events', async () => {
  await using api = await testApi();
  const [account] = (await api.call('GET', '/api/accounts')).body;
  const put = async (settings: JsonObject) => {
    const body = { settings: { ...account.settings, ...settings } };
    const events = await eventsOf(api, () => api.call('PUT', `/api/accounts/${account.id}`, body));
    expect(new Set(events.map(({ target }) => target))).toEqual(new Set([account.id]));
    return events.map(({ code }) => code);
  };
  expect(await put({ peer_login_expiration_enabled: false, peer_login_expiration: 7200 })).toEqual([
    'account.setting.peer.login.expiration.disable',
    'account.setting.peer.login.expiration.update',
  ]);
  expect(await put({ peer_inactivity_expiration_enabled: true, dns_domain: 'mesh.example' })).toEqual([
    'account.setting.peer.login.expiration.enable',
    'account.peer.inactivity.expiration.enable',
    'account.setting.peer.login.expiration.update',
    'account.dns.domain.update',
  ]);
});

it('a refused or failed write leaves no audit event', async () => {
  await using api = await testApi();
  const work = async () => {
    await api.call('POST', '/api/groups', { name: 'All' });
    await api.call('POST', '/api/groups', {});
    await api.call('DELETE', '/api/groups/nothing');
  };
  expect(await eventsOf(api, work)).toEqual([]);
});

it('changes of posture checks, networks, resources and routers write audit events', async () => {
  await using api = await testApi();
  const [peer = ''] = await api.peers('one');
  const group = await api.group('g');
  const check = { name: 'C', description: '' };
  expect(await lifeOf(api, '/api/posture-checks', check, { description: 'why' })).toEqual(
    ['posture.check.create', 'posture.check.update', 'posture.check.delete'].map((code) => [code, { name: 'C' }]),
  );
  expect(await lifeOf(api, '/api/networks', { name: 'N' }, { description: 'why' })).toEqual(
    ['network.create', 'network.update', 'network.delete'].map((code) => [code, { name: 'N' }]),
  );
  const { id } = (await api.call('POST', '/api/networks', { name: 'N' })).body;
  const router = { peer, metric: 1, masquerade: true, enabled: true };
  const inNetwork = { network_name: 'N', network_id: id };
  expect(await lifeOf(api, `/api/networks/${id}/routers`, router, { metric: 2 })).toEqual(
    ['network.router.create', 'network.router.update', 'network.router.delete'].map((code) => [
      code,
      { ...inNetwork, peer, peer_groups: '' },
    ]),
  );
  const resource = { name: 'R', address: '10.0.0.1', enabled: true, groups: [] };
  const meta = (type: string) => ({ name: 'R', type, ...inNetwork });
  expect(await lifeOf(api, `/api/networks/${id}/resources`, resource, { address: '*.example.com' })).toEqual([
    ['network.resource.create', meta('host')],
    ['network.resource.update', meta('domain')],
    ['network.resource.delete', meta('domain')],
  ]);
  const grouped = await eventsOf(api, () =>
    api.call('POST', `/api/networks/${id}/resources`, { ...resource, groups: [group] }),
  );
  expect(grouped.map(({ code, target }) => [code, target])).toEqual([
    ['network.resource.create', expect.any(String)],
    ['resource.group.add', group],
  ]);
  await api.call('POST', `/api/networks/${id}/routers`, router);
  const gone = await eventsOf(api, () => api.call('DELETE', `/api/networks/${id}`));
  expect(gone.map(({ code }) => code).sort()).toEqual([
    'network.delete',
    'network.resource.delete',
    'network.router.delete',
    'resource.group.delete',
  ]);
  expect(gone.find(({ code }) => code === 'resource.group.delete')).toMatchObject({ target: group });
});

it('adding resources to a group and removing them writes audit events', async () => {
  await using api = await testApi();
  const { id } = (await api.call('POST', '/api/networks', { name: 'N' })).body;
  const resource = { name: 'R', address: '10.0.0.1', enabled: true, groups: [] };
  const made = (await api.call('POST', `/api/networks/${id}/resources`, resource)).body.id;
  const group = await api.group('g');
  const put = (resources: JsonObject[]) =>
    eventsOf(api, () => api.call('PUT', `/api/groups/${group}`, { name: 'g', resources }));
  const codes = (events: readonly JsonObject[]) => events.map(({ code, target }) => [code, target]);
  expect(codes(await put([{ id: made, type: 'host' }]))).toEqual([
    ['network.resource.update', made],
    ['resource.group.add', group],
  ]);
  expect(codes(await put([]))).toEqual([
    ['network.resource.update', made],
    ['resource.group.delete', group],
  ]);
});
