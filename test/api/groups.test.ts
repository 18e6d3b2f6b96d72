import { describe, expect, it } from 'vitest';
import { problemsOf } from './problems.ts';
import { sharedApi, testApi } from './setup.ts';

const api = sharedApi();
const post = (body: object) => api().call('POST', '/api/groups', body as never);

it('makes, reads, lists, replaces and deletes a group', async () => {
  await using own = await testApi();
  const [ana = '', ben = ''] = await own.peers('ana', 'ben');
  const made = await own.call('POST', '/api/groups', { name: 'developers', peers: [ben, ana, ben] });
  const { id } = made.body;
  expect([made.status, made.body]).toEqual([
    200,
    {
      id,
      name: 'developers',
      issued: 'api',
      peers_count: 2,
      peers: [
        { id: ana, name: 'Peer ana' },
        { id: ben, name: 'Peer ben' },
      ],
      resources_count: 0,
      resources: [],
    },
  ]);
  expect((await own.call('GET', `/api/groups/${id}`)).body).toEqual(made.body);
  const listed = (await own.call('GET', '/api/groups')).body;
  expect(listed.map((group: { name: string }) => group.name).sort()).toEqual(['All', 'developers']);
  const replaced = await own.call('PUT', `/api/groups/${id}`, { name: 'builders' });
  expect(replaced.body).toEqual({ ...made.body, name: 'builders', peers: [], peers_count: 0 });
  const gone = await own.call('DELETE', `/api/groups/${id}`);
  expect([gone.status, gone.body]).toEqual([200, '']);
  for (const method of ['GET', 'DELETE'])
    expect((await own.call(method, `/api/groups/${id}`)).body.message).toBe(`group ${id} not found`);
});

it.each([
  [{}, ['field_required ']],
  [{ name: null }, ['field_required ']],
  [{ name: '' }, ['value_too_short /name']],
  [{ name: 7 }, ['type_wrong /name']],
  [{ name: ['a'] }, ['type_wrong /name']],
  [{ name: 'wrong', peers: 'x' }, ['type_wrong /peers']],
  [{ name: 'wrong', peers: [7] }, ['type_wrong /peers/0']],
  [{ name: 'wrong', peers: {} }, ['type_wrong /peers']],
  [{ name: 'wrong', peers: ['nobody'] }, ['reference_unknown /peers/0']],
  [{ peers: [7, true] }, ['field_required ', 'type_wrong /peers/0', 'type_wrong /peers/1']],
])('refuses %j', async (body, problems) => {
  const answer = await post(body);
  expect([answer.status, problemsOf(answer)]).toEqual([422, problems]);
});

it('names the missing field', async () => {
  expect((await post({})).body.message).toBe('`name` is required; add it');
});

it('keeps names unique, also when one is changed', async () => {
  const first = await api().group('unique');
  const second = await api().group('other');
  const again = await post({ name: 'unique' });
  expect([again.status, again.body.message]).toEqual([409, expect.stringContaining('already exists')]);
  const renamed = await api().call('PUT', `/api/groups/${second}`, { name: 'unique' });
  expect([renamed.status, renamed.body.message]).toEqual([409, expect.stringContaining('already exists')]);
  expect((await api().call('PUT', `/api/groups/${first}`, { name: 'unique' })).status).toBe(200);
});

it('takes names as they are: spaces, any script, long', async () => {
  for (const name of [' x ', 'Größe & Café', '開発者', '🧵', 'a'.repeat(1000), "'; drop table objects; --", '%_'])
    expect((await post({ name })).body.name).toBe(name);
  expect((await api().call('GET', `/api/groups?name=${encodeURIComponent('開発者')}`)).body).toHaveLength(1);
});

it('filters by exact name', async () => {
  const id = await api().group('Filtered');
  const filter = async (name: string) => (await api().call('GET', `/api/groups?name=${name}`)).body;
  expect((await filter('Filtered')).map((group: { id: string }) => group.id)).toEqual([id]);
  expect(await filter('filtered')).toEqual([]);
  expect(await filter('Filter')).toEqual([]);
  expect(await filter('All')).toEqual([expect.objectContaining({ name: 'All', issued: 'api' })]);
});

it('writes nothing when it is given back what it answered', async () => {
  const [peer = ''] = await api().peers('roundtrip');
  const made = await post({ name: 'roundtrip', peers: [peer] });
  const before = await api().revision();
  const same = await api().call('PUT', `/api/groups/${made.body.id}`, made.body);
  expect([same.status, same.body]).toEqual([200, made.body]);
  expect(same.headers['etag']).toBe(made.headers['etag']);
  expect(same.headers['heddle-ignored']).toBeUndefined();
  expect(await api().revision()).toBe(before);
});

it('ignores read-only members and names the unknown ones', async () => {
  const made = await post({ name: 'ignoring', id: 'mine', issued: 'jwt', peers_count: 9, colour: 'red', 'a, b/c': 1 });
  expect(made.body).toMatchObject({ issued: 'api', peers_count: 0 });
  expect(made.body.id).not.toBe('mine');
  expect(made.headers['heddle-ignored']).toBe('/colour, /a%2C%20b~1c');
  const strict = await api().call('POST', '/api/groups', { name: 's', colour: 1 }, { prefer: 'handling=strict' });
  expect([strict.status, problemsOf(strict)]).toEqual([422, ['field_unknown /colour']]);
});

it('names no more unknown members than a header holds', async () => {
  const body = { name: 'many', ...Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`member${at}`, at])) };
  const { status, headers } = await post(body);
  expect([status, (headers['heddle-ignored'] ?? '').length < 4096]).toEqual([200, true]);
});

describe('the group All', () => {
  const all = async () => (await api().call('GET', '/api/groups?name=All')).body[0];

  it('holds every peer', async () => {
    const [peer = ''] = await api().peers('everywhere');
    const { peers, peers_count } = await all();
    expect(peers).toContainEqual({ id: peer, name: 'Peer everywhere' });
    expect(peers_count).toBe(peers.length);
  });

  it('is neither changed nor deleted nor made twice', async () => {
    const { id } = await all();
    expect((await api().call('PUT', `/api/groups/${id}`, { name: 'Everybody' })).status).toBe(422);
    expect((await api().call('PUT', `/api/groups/${id}`, { name: 'All', peers: [] })).status).toBe(200);
    expect((await api().call('DELETE', `/api/groups/${id}`)).status).toBe(400);
    expect((await post({ name: 'All' })).status).toBe(409);
  });
});

it('is not deleted while it is linked, and says by what', async () => {
  const id = await api().group('linked');
  const rule = { name: 'r', enabled: true, action: 'accept', bidirectional: false, protocol: 'all' };
  const rules = [{ ...rule, sources: [id], destinations: [id] }];
  const policy = (await api().call('POST', '/api/policies', { name: 'Linking', enabled: true, rules })).body.id;
  const zone = { name: 'Linking zone', domain: 'linked.example', enable_search_domain: false };
  const made = (await api().call('POST', '/api/dns/zones', { ...zone, distribution_groups: [id] })).body.id;
  const refused = await api().call('DELETE', `/api/groups/${id}`);
  expect(refused.body).toMatchObject({ code: 400, message: expect.stringContaining('linked') });
  expect(refused.body.message).toContain('policy: Linking');
  expect(refused.body.message).toContain('dnszone: Linking zone');
  await api().call('DELETE', `/api/policies/${policy}`);
  await api().call('DELETE', `/api/dns/zones/${made}`);
  expect((await api().call('DELETE', `/api/groups/${id}`)).status).toBe(200);
});

it('50 creations of one name at a time give one group and 49 conflicts', async () => {
  const before = await api().revision();
  const answers = await Promise.all(Array.from({ length: 50 }, () => post({ name: 'contended' })));
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([200, ...Array.from({ length: 49 }, () => 409)]);
  expect(await api().revision()).toBe(before + 1);
});
