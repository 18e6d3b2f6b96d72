import { describe, expect, it } from 'vitest';
import { problemsOf } from './problems.ts';
import { sharedApi, testApi } from './setup.ts';

const api = sharedApi();
const post = (body: object) => api().call('POST', '/api/groups', body as never);

it('a group is created, read, listed, replaced and deleted', async () => {
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
        { id: ben, name: 'Peer ben' },
        { id: ana, name: 'Peer ana' },
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
])('POST /api/groups refuses %j', async (body, problems) => {
  const answer = await post(body);
  expect([answer.status, problemsOf(answer)]).toEqual([422, problems]);
});

it('POST /api/groups without a name names the missing field', async () => {
  expect((await post({})).body.message).toBe('`name` is required; add it');
});

it('group names are unique, also after a rename', async () => {
  const first = await api().group('unique');
  const second = await api().group('other');
  const again = await post({ name: 'unique' });
  expect([again.status, again.body.message]).toEqual([409, expect.stringContaining('already exists')]);
  const renamed = await api().call('PUT', `/api/groups/${second}`, { name: 'unique' });
  expect([renamed.status, renamed.body.message]).toEqual([409, expect.stringContaining('already exists')]);
  expect((await api().call('PUT', `/api/groups/${first}`, { name: 'unique' })).status).toBe(200);
});

it('group names are accepted unchanged: spaces, any script, 255 characters', async () => {
  for (const name of [' x ', 'Größe & Café', '開発者', '🧵', 'a'.repeat(255), "'; drop table objects; --", '%_'])
    expect((await post({ name })).body.name).toBe(name);
  expect((await api().call('GET', `/api/groups?name=${encodeURIComponent('開発者')}`)).body).toHaveLength(1);
});

it('GET /api/groups filters by exact name', async () => {
  const id = await api().group('Filtered');
  const filter = async (name: string) => (await api().call('GET', `/api/groups?name=${name}`)).body;
  expect((await filter('Filtered')).map((group: { id: string }) => group.id)).toEqual([id]);
  expect(await filter('filtered')).toEqual([]);
  expect(await filter('Filter')).toEqual([]);
  expect(await filter('All')).toEqual([expect.objectContaining({ name: 'All', issued: 'api' })]);
});

it('PUT /api/groups/{id} with the unchanged answer of POST writes nothing', async () => {
  const [peer = ''] = await api().peers('roundtrip');
  const made = await post({ name: 'roundtrip', peers: [peer] });
  const before = await api().revision();
  const same = await api().call('PUT', `/api/groups/${made.body.id}`, made.body);
  expect([same.status, same.body]).toEqual([200, made.body]);
  expect(same.headers['etag']).toBe(made.headers['etag']);
  expect(same.headers['heddle-ignored']).toBeUndefined();
  expect(await api().revision()).toBe(before);
});

it('POST /api/groups ignores read-only members, and reports unknown ones in Heddle-Ignored', async () => {
  const made = await post({ name: 'ignoring', id: 'mine', issued: 'jwt', peers_count: 9, colour: 'red', 'a, b/c': 1 });
  expect(made.body).toMatchObject({ issued: 'api', peers_count: 0 });
  expect(made.body.id).not.toBe('mine');
  expect(made.headers['heddle-ignored']).toBe('/colour, /a%2C%20b~1c');
  const strict = await api().call('POST', '/api/groups', { name: 's', colour: 1 }, { prefer: 'handling=strict' });
  expect([strict.status, problemsOf(strict)]).toEqual([422, ['field_unknown /colour']]);
});

it('Heddle-Ignored names no more unknown members than a header may contain', async () => {
  const body = { name: 'many', ...Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`member${at}`, at])) };
  const { status, headers } = await post(body);
  expect([status, (headers['heddle-ignored'] ?? '').length < 4096]).toEqual([200, true]);
});

describe('the group All', () => {
  const all = async () => (await api().call('GET', '/api/groups?name=All')).body[0];

  it('contains every peer', async () => {
    const [peer = ''] = await api().peers('everywhere');
    const { peers, peers_count } = await all();
    expect(peers).toContainEqual({ id: peer, name: 'Peer everywhere' });
    expect(peers_count).toBe(peers.length);
  });

  it('cannot be changed, deleted or created again', async () => {
    const { id } = await all();
    expect((await api().call('PUT', `/api/groups/${id}`, { name: 'Everybody' })).status).toBe(422);
    expect((await api().call('PUT', `/api/groups/${id}`, { name: 'All', peers: [] })).status).toBe(200);
    expect((await api().call('DELETE', `/api/groups/${id}`)).status).toBe(400);
    expect((await post({ name: 'All' })).status).toBe(409);
  });
});

it('deleting a linked group is refused, naming the objects that link to it', async () => {
  const id = await api().group('linked');
  const rule = { name: 'r', enabled: true, action: 'accept', bidirectional: false, protocol: 'all' };
  const rules = [{ ...rule, sources: [id], destinations: [id] }];
  const policy = (await api().call('POST', '/api/policies', { name: 'Linking', enabled: true, rules })).body.id;
  const zone = { name: 'Linking zone', domain: 'linked.example', enable_search_domain: false };
  const made = (await api().call('POST', '/api/dns/zones', { ...zone, distribution_groups: [id] })).body.id;
  const refused = await api().call('DELETE', `/api/groups/${id}`);
  expect(refused.body).toMatchObject({ code: 400, message: expect.stringContaining('linked') });
  expect(refused.body.message).toContain('policy: Linking');
  expect(refused.body.message).toContain('DNS zone: Linking zone');
  await api().call('DELETE', `/api/policies/${policy}`);
  await api().call('DELETE', `/api/dns/zones/${made}`);
  expect((await api().call('DELETE', `/api/groups/${id}`)).status).toBe(200);
});

describe('the resources of a group', () => {
  const resource = async (network: string, name: string, groups: readonly string[] = []) => {
    const body = { name, address: '10.20.0.0/24', enabled: true, groups };
    return (await api().call('POST', `/api/networks/${network}/resources`, body)).body.id as string;
  };
  const groupsOf = async (network: string, id: string) =>
    (await api().call('GET', `/api/networks/${network}/resources/${id}`)).body.groups.map(
      (group: { name: string }) => group.name,
    );
  const network = async () => (await api().call('POST', '/api/networks', { name: 'Office' })).body.id as string;

  it('are set on creation, replaced, and cleared when they are omitted', async () => {
    const office = await network();
    const [one, two] = [await resource(office, 'held one'), await resource(office, 'held two')];
    const shown = (...ids: string[]) => ids.sort().map((id) => ({ id, type: 'subnet' }));
    const made = await post({ name: 'holding', resources: [{ id: one, type: 'subnet' }] });
    expect(made.body).toMatchObject({ resources_count: 1, resources: shown(one), peers: [] });
    expect(await groupsOf(office, one)).toEqual(['holding']);
    const put = (body: object) =>
      api().call('PUT', `/api/groups/${made.body.id}`, { name: 'holding', ...body } as never);
    expect((await put({ resources: shown(one, two) })).body).toMatchObject({ resources_count: 2 });
    expect((await put({ resources: shown(two) })).body.resources).toEqual(shown(two));
    expect(await groupsOf(office, one)).toEqual([]);
    expect((await put({})).body).toMatchObject({ resources_count: 0, resources: [] });
    expect(await groupsOf(office, two)).toEqual([]);
  });

  it('keep their other groups, and write no revision when nothing changes', async () => {
    const office = await network();
    await post({ name: 'a first' });
    const first = (await api().call('GET', '/api/groups?name=a%20first')).body[0].id;
    const id = await resource(office, 'shared', [first]);
    const made = await post({ name: 'b second', resources: [{ id, type: 'subnet' }] });
    expect((await groupsOf(office, id)).sort()).toEqual(['a first', 'b second']);
    const before = await api().revision();
    expect((await api().call('PUT', `/api/groups/${made.body.id}`, made.body)).body).toEqual(made.body);
    expect(await api().revision()).toBe(before);
  });

  it('must have the type that follows from their address', async () => {
    const id = await resource(await network(), 'typed');
    const wrong = await post({ name: 'wrongly typed', resources: [{ id, type: 'host' }] });
    expect([wrong.status, problemsOf(wrong)]).toEqual([422, ['resource_type_wrong /resources/0/type']]);
    expect(wrong.body.message).toContain('"type": "subnet"');
    expect((await post({ name: 'rightly typed', resources: [{ id, type: 'subnet' }] })).status).toBe(200);
  });

  it('may be peers, which become members like those in `peers`', async () => {
    const [peer = ''] = await api().peers('as-resource');
    const made = await post({ name: 'peer as resource', resources: [{ id: peer, type: 'peer' }] });
    expect(made.body).toMatchObject({ peers: [{ id: peer, name: 'Peer as-resource' }], peers_count: 1, resources: [] });
  });

  it.each<[object, string[]]>([
    [{ resources: 'x' }, ['type_wrong /resources']],
    [{ resources: ['x'] }, ['type_wrong /resources/0']],
    [{ resources: [{ id: 'x' }] }, ['field_required /resources/0']],
    [{ resources: [{ id: 'x', type: 'car' }] }, ['value_not_allowed /resources/0/type']],
    [{ resources: [{ id: 'nobody', type: 'host' }] }, ['reference_unknown /resources/0/id']],
    [{ resources: [{ id: 'nobody', type: 'peer' }] }, ['reference_unknown /resources/0/id']],
  ])('are refused as %j', async (body, problems) => {
    const answer = await post({ name: 'refused', ...body });
    expect([answer.status, problemsOf(answer)]).toEqual([422, problems]);
  });

  it('cannot be removed from a group that a source states for them', async () => {
    await using own = await testApi();
    const text = `
apiVersion: heddle.dev/v1
kind: Group
metadata: {name: servers}
---
apiVersion: heddle.dev/v1
kind: Network
metadata: {name: office}
spec:
  resources:
    - {name: files, address: 10.20.0.10, groups: [servers]}
`;
    const files = [{ path: 'office.yaml', text }];
    expect((await own.call('POST', '/api/config/apply', { source: 'git', files })).status).toBe(200);
    const [group] = (await own.call('GET', '/api/groups?name=servers')).body;
    const other = await own.group('others');
    const refused = await own.call('PUT', `/api/groups/${group.id}`, { name: 'servers', resources: [] });
    expect([refused.status, refused.body.problems]).toMatchObject([
      409,
      [{ code: 'managed_field', kind: 'NetworkResource', key: 'office/files', path: '/groups' }],
    ]);
    expect((await own.call('PUT', `/api/groups/${group.id}`, group)).status).toBe(200);
    const added = await own.call('PUT', `/api/groups/${other}`, { name: 'others', resources: group.resources });
    expect(added.body).toMatchObject({ resources: group.resources });
  });
});

it('50 concurrent creates of the same group name give one group and 49 conflicts', async () => {
  const before = await api().revision();
  const answers = await Promise.all(Array.from({ length: 50 }, () => post({ name: 'contended' })));
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([200, ...Array.from({ length: 49 }, () => 409)]);
  expect(await api().revision()).toBe(before + 1);
});
