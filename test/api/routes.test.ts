import { beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { problemsOf } from './problems.ts';
import { sharedApi } from './setup.ts';

const api = sharedApi();
let users = '';
let gateways = '';
let gate = '';
let second = '';
beforeAll(async () => {
  [gate = '', second = ''] = await api().peers('gate', 'second');
  users = await api().group('users');
  gateways = await api().group('gates', [gate]);
});

type Members = Readonly<Record<string, Json | undefined>>;
let network = 0;
/** Returns a valid route to a unique network. Members of `more` that are `undefined` are left out. */
const body = (more: Members = {}): JsonObject => {
  network += 1;
  const full = {
    description: '',
    network_id: 'office',
    enabled: true,
    peer: gate,
    network: `10.${network}.0.0/16`,
    metric: 100,
    masquerade: true,
    groups: [users],
    keep_route: false,
    ...more,
  };
  return Object.fromEntries(Object.entries(full).filter(([, value]) => value !== undefined)) as JsonObject;
};
const post = (value: JsonObject) => api().call('POST', '/api/routes', value);
const put = (id: string, value: JsonObject) => api().call('PUT', `/api/routes/${id}`, value);

it('a route to a network is created, read, listed, replaced and deleted', async () => {
  const made = await post(body({ description: 'why', network: '10.200.0.0/16' }));
  const { id } = made.body;
  expect([made.status, made.body]).toEqual([
    200,
    {
      id,
      network_type: 'IPv4',
      description: 'why',
      network_id: 'office',
      enabled: true,
      peer: gate,
      network: '10.200.0.0/16',
      metric: 100,
      masquerade: true,
      groups: [users],
      keep_route: false,
      skip_auto_apply: false,
    },
  ]);
  expect((await api().call('GET', `/api/routes/${id}`)).body).toEqual(made.body);
  expect((await api().call('GET', '/api/routes')).body).toContainEqual(made.body);
  const changed = await put(id, body({ domains: ['example.com'], network: undefined, skip_auto_apply: true }));
  expect(changed.body).toMatchObject({ network_type: 'Domain', domains: ['example.com'], skip_auto_apply: true });
  expect(changed.body).not.toHaveProperty('network');
  expect((await put(id, body({ network: '10.200.0.0/16' }))).body).toMatchObject({ skip_auto_apply: false });
  const gone = await api().call('DELETE', `/api/routes/${id}`);
  expect([gone.status, gone.body]).toEqual([200, '']);
  for (const method of ['GET', 'DELETE'])
    expect((await api().call(method, `/api/routes/${id}`)).body.message).toBe(`route ${id} not found`);
  expect((await put(id, body())).status).toBe(404);
});

it('a route to domains through peer groups is returned without a network', async () => {
  const { body: made } = await post(
    body({
      peer: undefined,
      peer_groups: [gateways],
      network: undefined,
      domains: ['WWW.Example.com', '*.bücher.example', 'www.example.com'],
      access_control_groups: [users],
    }),
  );
  expect(made).toMatchObject({ peer: '', peer_groups: [gateways], access_control_groups: [users] });
  expect(made.domains).toEqual(['WWW.Example.com', '*.bücher.example']);
  expect(made).not.toHaveProperty('network');
});

it.each(['description', 'network_id', 'enabled', 'metric', 'masquerade', 'groups', 'keep_route'])(
  'a route requires %s',
  async (name) => {
    const answer = await post(body({ [name]: undefined }));
    expect([answer.status, answer.body.message]).toEqual([422, `\`${name}\` is required; add it`]);
  },
);

it('all faults of a route are reported at once', async () => {
  const answer = await post({ metric: 0, groups: 'x', network_id: '' });
  expect(problemsOf(answer)).toEqual(
    expect.arrayContaining(['value_out_of_range /metric', 'type_wrong /groups', 'value_too_short /network_id']),
  );
  expect(answer.body.problems).toHaveLength(7);
  const mixed = await post(body({ metric: 0, network: '10.1.2.3/8', domains: ['a b'], groups: ['nobody'] }));
  expect([...problemsOf(mixed)].sort()).toEqual([
    'cidr_invalid /network',
    'domain_invalid /domains/0',
    'reference_unknown /groups/0',
    'route_destination_exclusive /domains',
    'value_out_of_range /metric',
  ]);
});

it.each([
  [{ metric: 0 }, ['value_out_of_range /metric']],
  [{ metric: 10000 }, ['value_out_of_range /metric']],
  [{ metric: '100' }, ['type_wrong /metric']],
  [{ metric: 1.5 }, ['type_wrong /metric']],
  [{ metric: null }, ['field_required ']],
  [{ network_id: '' }, ['value_too_short /network_id']],
  [{ network_id: 'x'.repeat(41) }, ['value_too_long /network_id']],
  [{ enabled: 1 }, ['type_wrong /enabled']],
  [{ groups: [] }, ['list_too_short /groups']],
  [{ groups: null }, ['list_too_short /groups']],
  [{ groups: ['nobody'] }, ['reference_unknown /groups/0']],
  [{ access_control_groups: ['nobody'] }, ['reference_unknown /access_control_groups/0']],
  [{ peer: 'nobody' }, ['reference_unknown /peer']],
  [{ peer: undefined, peer_groups: ['nobody'] }, ['reference_unknown /peer_groups/0']],
  [{ network: '10.0.0.1/8' }, ['cidr_invalid /network']],
  [{ network: '10.0.0.1' }, ['cidr_invalid /network']],
  [{ network: 'office' }, ['cidr_invalid /network']],
  [{ network: '10.0.0.0/33' }, ['cidr_invalid /network']],
  [{ network: 7 }, ['type_wrong /network']],
  [{ network: '' }, ['route_destination_exclusive ']],
  [{ network: undefined }, ['route_destination_exclusive ']],
  [{ domains: ['example.com'] }, ['route_destination_exclusive /domains']],
  [{ network: undefined, domains: ['not a domain'] }, ['domain_invalid /domains/0']],
  [{ network: undefined, domains: [] }, ['route_destination_exclusive ']],
  [{ peer: '' }, ['route_router_exclusive ']],
  [{ peer: null, peer_groups: [] }, ['route_router_exclusive ']],
  [{ peer_groups: 'GATES' }, ['type_wrong /peer_groups']],
  [{ peer_groups: ['GATES'] }, ['route_router_exclusive /peer_groups']],
] as [Members, string[]][])('a route with %j is refused', async (more, problems) => {
  const before = await api().revision();
  const filled = JSON.parse(JSON.stringify(body(more)).replaceAll('GATES', gateways));
  const answer = await post(filled);
  expect([answer.status, problemsOf(answer)]).toEqual([422, problems]);
  expect(await api().revision()).toBe(before);
});

it('a network range with host bits is refused with the correct range', async () => {
  expect((await post(body({ network: '10.9.8.7/16' }))).body.message).toContain('10.9.0.0/16');
});

describe('limits of a route', () => {
  const domains = (count: number) => Array.from({ length: count }, (_, at) => `d${at}.limits${count}.example`);

  it.each([
    [{ metric: 1 }],
    [{ metric: 9999 }],
    [{ network_id: 'x' }],
    [{ network_id: 'x'.repeat(40) }],
    [{ network_id: 'ü'.repeat(40) }],
    [{ network_id: '🧵'.repeat(40) }],
    [{ network: undefined, domains: domains(1) }],
    [{ network: undefined, domains: domains(32) }],
    [{ network: '0.0.0.0/0', skip_auto_apply: true }],
    [{ network: 'fd12:3456::/32' }],
  ] as [Members][])('allow %j', async (more) => {
    expect((await post(body(more as Members))).status).toBe(200);
  });

  it('refuse 33 domains', async () => {
    const answer = await post(body({ network: undefined, domains: domains(33) }));
    expect([answer.status, problemsOf(answer)]).toEqual([422, ['list_too_long /domains']]);
  });

  it('allow an IPv6 network, and report its type as IPv6', async () => {
    expect((await post(body({ network: 'FD00:0:0::/48' }))).body).toMatchObject({
      network_type: 'IPv6',
      network: 'FD00:0:0::/48',
    });
  });
});

it.each([
  [{ domains: [] }],
  [{ domains: null }],
  [{ peer_groups: [] }],
  [{ peer_groups: null, domains: [] }],
  [{ peer: '', peer_groups: ['GATES'] }],
  [{ peer: null, peer_groups: ['GATES'] }],
  [{ network: '', domains: ['empty.example'] }],
  [{ network: null, domains: ['null.example'] }],
  [{ description: '', access_control_groups: null, skip_auto_apply: null }],
])('a route with an empty side of an exclusive pair is accepted: %j', async (more) => {
  const answer = await post(JSON.parse(JSON.stringify(body(more as Members)).replaceAll('GATES', gateways)));
  expect(answer.status).toBe(200);
});

it('a route that is put back unchanged writes nothing', async () => {
  for (const more of [
    { access_control_groups: [users], skip_auto_apply: true },
    { peer: undefined, peer_groups: [gateways], network: undefined, domains: ['*.back.example', 'back.example'] },
  ]) {
    const { body: made, headers } = await post(body(more as Members));
    const before = await api().revision();
    const same = await put(made.id, made);
    expect([same.status, same.body, same.headers['etag']]).toEqual([200, made, headers['etag']]);
    expect(same.headers['heddle-ignored']).toBeUndefined();
    expect(await api().revision()).toBe(before);
  }
});

it('a second route of the same peer to the same network is refused, naming the first one', async () => {
  const first = await post(body({ network_id: 'first way', network: '172.16.0.0/12' }));
  for (const more of [{}, { peer: undefined, peer_groups: [gateways] }]) {
    const answer = await post(body({ network: '172.16.0.0/12', ...more } as Members));
    expect([answer.status, answer.body.message]).toEqual([409, expect.stringContaining('already exists')]);
    expect(answer.body.message).toContain('first way');
  }
  expect((await post(body({ network: '172.16.0.0/12', peer: second }))).status).toBe(200);
  expect((await put(first.body.id, { ...first.body, metric: 7 })).body.metric).toBe(7);
});
