import { beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { sharedApi, testApi, token } from './setup.ts';

const api = sharedApi();
let group = '';
let peer = '';
beforeAll(async () => {
  group = await api().group('g');
  [peer = ''] = await api().peers('p');
});

const rule = { name: 'r', enabled: true, action: 'accept', bidirectional: true, protocol: 'all' };
const sides = () => ({ sources: [group], destinations: [group] });

it('the longest names and descriptions are accepted in any script, and near-equal names are distinguished', async () => {
  const name = '研'.repeat(254);
  expect((await api().call('POST', '/api/groups', { name })).body.name).toBe(name);
  expect((await api().call('POST', '/api/groups', { name })).status).toBe(409);
  expect((await api().call('POST', '/api/groups', { name: `${name}x` })).status).toBe(200);
  expect((await api().call('POST', '/api/groups', { name: `${name}xx` })).status).toBe(422);
  const description = '研'.repeat(4096);
  const policy = { name, enabled: true, description, rules: [{ ...rule, ...sides(), name, description }] };
  expect((await api().call('POST', '/api/policies', policy)).status).toBe(200);
  expect((await api().call('GET', `/api/groups?name=${encodeURIComponent(name.slice(0, 200))}`)).body).toEqual([]);
});

it('a group with 500 peers and a policy with 300 rules are accepted', async () => {
  const peers = await api().peers(...Array.from({ length: 500 }, (_, at) => `many-${at}`));
  const made = await api().call('POST', '/api/groups', { name: 'crowd', peers: [...peers] });
  expect([made.status, made.body.peers_count, made.body.peers.length]).toEqual([200, 500, 500]);
  const rules = Array.from({ length: 300 }, (_, at) => ({ ...rule, ...sides(), name: `r${at}` }));
  expect((await api().call('POST', '/api/policies', { name: 'long', enabled: true, rules })).body.rules).toHaveLength(
    300,
  );
});

it('a route with 32 long domains is accepted', async () => {
  const domains = Array.from({ length: 32 }, (_, at) =>
    [`d${at}`, ...Array.from({ length: 3 }, () => 'x'.repeat(60)), 'example'].join('.'),
  );
  const route = { description: '', network_id: 'd', enabled: true, peer, domains, metric: 1, masquerade: true };
  const answer = await api().call('POST', '/api/routes', { ...route, groups: [group], keep_route: false });
  expect([answer.status, answer.body.domains?.length]).toEqual([200, 32]);
});

it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', 'id:x', 'name:x', '@Group/x', '0'])(
  'the name %s is accepted',
  async (name) => {
    const made = await api().call('POST', '/api/groups', { name });
    expect([made.status, made.body.name]).toEqual([200, name]);
    const put = await api().call('PUT', `/api/groups/${made.body.id}`, made.body);
    expect([put.status, put.headers['etag']]).toEqual([200, made.headers['etag']]);
    const rules = [{ ...rule, ...sides(), name }];
    const policy = await api().call('POST', '/api/policies', { name, enabled: true, rules });
    expect(policy.body.rules).toMatchObject([{ name, id: policy.body.id }]);
    expect((await api().call('GET', '/api/config/export')).status).toBe(200);
  },
);

it.each(['__proto__', 'constructor', 'toString', 'settings', ''])(
  'the unknown member %j is ignored',
  async (member) => {
    const text = `{"name":"member ${member}","${member.replace('_', '\\u005f')}":{"a":1}}`;
    const made = await api().call('POST', '/api/groups', text);
    expect([made.status, made.body.name]).toEqual([200, `member ${member}`]);
    expect(made.headers['heddle-ignored']).toBe(`/${member}`);
  },
);

it('the refusal to delete a group names all of its referrers', async () => {
  const used = await api().group('used everywhere');
  const account = (await api().call('GET', '/api/accounts')).body[0];
  const extra = { ...account.settings.extra, network_traffic_logs_groups: [used] };
  const settings = { ...account.settings, extra, peer_expose_groups: [used] };
  expect((await api().call('PUT', `/api/accounts/${account.id}`, { settings })).status).toBe(200);
  const policy = (name: string, more: JsonObject) => ({
    name,
    enabled: true,
    rules: [{ ...rule, ...sides(), ...more }],
  });
  await api().call('POST', '/api/policies', policy('By rule', { sources: [used] }));
  await api().call('POST', '/api/policies', policy('By map', { authorized_groups: { [used]: ['root'] } }));
  const route = { description: '', network_id: 'by-route', enabled: true, peer, network: '10.0.0.0/8', metric: 1 };
  await api().call('POST', '/api/routes', { ...route, masquerade: true, groups: [used], keep_route: false });
  const { status, body } = await api().call('DELETE', `/api/groups/${used}`);
  expect(status).toBe(400);
  for (const said of ['linked', 'policy: By rule', 'policy: By map', 'route: by-route', 'account: account'])
    expect(body.message).toContain(said);
});

it('an id of another kind returns 404 for every method', async () => {
  const { account } = api();
  for (const id of [account, peer])
    for (const url of [`/api/groups/${id}`, `/api/policies/${id}`, `/api/routes/${id}`, `/api/dns/zones/${id}`])
      for (const [method, body] of [['GET'], ['DELETE'], ['PUT', { name: 'x' }]] as [string, JsonObject?][])
        expect((await api().call(method, url, body)).body).toMatchObject({
          ...{ code: 404, message: expect.stringContaining('not found') },
        });
});

it('requests in progress are served while the server closes', async () => {
  await using own = await testApi();
  const url = await own.app.listen({ host: '127.0.0.1', port: 0 });
  const headers = { authorization: `Token ${token}`, 'content-type': 'application/json' };
  const writes = Array.from({ length: 20 }, (_, at) =>
    fetch(`${url}/api/groups`, { method: 'POST', headers, body: JSON.stringify({ name: `last ${at}` }) }),
  );
  await Promise.race(writes);
  const [answers] = await Promise.all([Promise.allSettled(writes), own.app.close()]);
  const statuses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.status] : []));
  expect(new Set(statuses)).toEqual(new Set([200]));
});
