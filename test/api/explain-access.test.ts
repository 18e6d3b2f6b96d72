import { beforeAll, expect, it } from 'vitest';
import { sharedServer } from '../cli/served.ts';
import { putObjects } from '../setup/objects.ts';
import { createWorld } from '../spec/world.ts';
import { doc } from './documents.ts';

const server = sharedServer();

const text = [
  doc('Group', 'devs', 'name: Developers\npeers: [laptop]'),
  doc('Group', 'db', 'name: Databases\npeers: [db-1]'),
  doc('PostureCheck', 'recent', 'name: recent\nchecks:\n  client_version_check: {min_version: "2.0"}'),
  doc(
    'Policy',
    'devs-to-db',
    'name: Data\nrules:\n  - {name: pg, action: accept, protocol: tcp, ports: ["5432"], sources: [devs], destinations: [db]}',
  ),
  doc(
    'Policy',
    'healthy',
    'name: Healthy\nsource_posture_checks: [recent]\nrules:\n  - {name: web, action: accept, protocol: tcp, ports: ["80"], sources: [devs], destinations: [db]}',
  ),
].join('---\n');

const ask = (query: string) => server().api.call('GET', `/api/config/access?${query}`);

beforeAll(async () => {
  const { api } = server();
  await api.peers('laptop', 'db-1', 'db');
  for (const { id } of (await api.call('GET', '/api/policies')).body) await api.call('DELETE', `/api/policies/${id}`);
  const files = [{ path: 'office.yaml', text }];
  const applied = await api.call('POST', '/api/config/apply', { source: 'office', files });
  expect([applied.status, applied.body.message]).toEqual([200, undefined]);
});

it('GET /api/config/access names the rule that permits traffic, the groups of both ends, and where all are declared', async () => {
  const { status, body } = await ask('from=laptop&to=db-1&port=tcp/5432');
  expect([status, body]).toMatchObject([
    200,
    {
      verdict: 'allow',
      asked: 'tcp/5432',
      from: { type: 'peer', key: 'laptop', declared: [] },
      message: '`Peer laptop` may open tcp/5432 to `Peer db-1`: rule `pg` of policy `Data` lets tcp/5432 through',
      rules: [
        {
          policy: { name: 'Data', declared: [{ source: 'office', file: 'office.yaml', line: expect.any(Number) }] },
          decides: true,
          from: [{ key: 'devs', name: 'Developers', declared: [{ file: 'office.yaml', line: 1 }] }],
          to: [{ key: 'db' }],
        },
        { policy: { name: 'Healthy' }, decides: false },
      ],
      otherRules: 0,
    },
  ]);
  expect((await ask('from=laptop&to=db-1&port=81')).body).toMatchObject({ verdict: 'deny', asked: 'tcp/81' });
});

it('E152 access that depends on posture checks is reported as conditional, with the names of the checks', async () => {
  const { body } = await ask('from=laptop&to=db-1&port=80');
  expect(body).toMatchObject({
    verdict: 'conditional',
    passesIfPostureAllows: 'tcp/80',
    rules: [{}, { checks: [{ check: { name: 'recent' }, result: 'unknown', parts: ['client_version_check'] }] }],
  });
});

it('access between groups is reported for their members, with a count of pairs', async () => {
  const { body } = await ask('from=Group/devs&to=Group/db&port=5432');
  expect(body).toMatchObject({ verdict: 'allow', pairs: { allow: 1, deny: 0, conditional: 0, mixed: 0 } });
});

it.each([
  ['network_admin', 200],
  ['auditor', 200],
  ['user', 403],
])('a request with the role %s is answered with %i', async (role, status) => {
  const { api } = server();
  const person = { name: role, email: `${role}@example.com`, role, auto_groups: [], is_service_user: false };
  const { id } = (await api.call('POST', '/api/users', person)).body;
  await putObjects(api.engine, api.account, (state) => {
    const user = state.get(id);
    return user === undefined ? [] : [{ ...user, derived: { ...user.derived, status: 'active' } }];
  });
  const headers = await createWorld(api, 'self-hosted', new Map()).headersOf(api.account, id);
  const answer = await api.call('GET', '/api/config/access?from=laptop&to=db-1', undefined, headers);
  expect([role, answer.status]).toEqual([role, status]);
});

it('a user with one peer is resolved to that peer; with several peers, the refusal names them', async () => {
  const { engine, account, call } = server().api;
  const person = { name: 'Ana Lima', email: 'ana@example.com', role: 'user', auto_groups: [], is_service_user: false };
  const user = (await call('POST', '/api/users', person)).body.id;
  const none = await ask('from=ana@example.com&to=db-1');
  expect([none.status, none.body.message]).toEqual([422, expect.stringContaining('is a person without a peer')]);
  const give = (...labels: readonly string[]) =>
    putObjects(engine, account, (state) =>
      labels.flatMap((label) => {
        const peer = state.findByKey('Peer', label);
        return peer === undefined ? [] : [{ ...peer, spec: { ...peer.spec, user_id: user } }];
      }),
    );
  await give('laptop');
  for (const name of ['Ana@Example.com', 'Ana%20Lima', `User/${user}`])
    expect((await ask(`from=${name}&to=db-1&port=5432`)).body).toMatchObject({
      verdict: 'allow',
      from: { key: 'laptop' },
    });
  await give('laptop', 'db');
  expect((await ask('from=ana@example.com&to=db-1')).body.message).toBe(
    'ana@example.com is a person with 2 peers; name one of Peer/laptop, Peer/db',
  );
});

it('an end is resolved by the address or name that reaches it, preferring the most specific one', async () => {
  const { call } = server().api;
  const [gate = ''] = await server().api.peers('gate');
  const network = (await call('POST', '/api/networks', { name: 'plant' })).body.id;
  const router = { peer: gate, metric: 1, masquerade: true, enabled: true };
  expect((await call('POST', `/api/networks/${network}/routers`, router)).status).toBe(200);
  const addresses = { lan: '10.7.0.0/16', press: '10.7.0.9', six: 'fd00:7::/64', wiki: '*.plant.example.com' };
  for (const [name, address] of Object.entries(addresses)) {
    const made = await call('POST', `/api/networks/${network}/resources`, { name, address, enabled: true, groups: [] });
    expect([made.status, made.body.message]).toEqual([200, undefined]);
  }
  const peers: readonly { readonly dns_label: string; readonly ip: string }[] = (await call('GET', '/api/peers')).body;
  const ip = peers.find(({ dns_label }) => dns_label.startsWith('db-1'))?.ip ?? '';
  const names: readonly (readonly [text: string, name: string])[] = [
    [ip, 'Peer db-1'],
    ['db-1.heddle.internal', 'Peer db-1'],
    ['10.7.0.9', 'press'],
    ['10.7.200.1', 'lan'],
    ['fd00:7:0:0::5', 'six'],
    ['pumps.plant.example.com', 'wiki'],
  ];
  for (const [text, name] of names)
    expect([text, (await ask(`from=laptop&to=${text}`)).body.to.name]).toEqual([text, name]);
  await call('POST', `/api/networks/${network}/resources`, {
    name: 'twin',
    address: '10.7.0.9/32',
    enabled: true,
    groups: [],
  });
  const both = await ask('from=laptop&to=10.7.0.9');
  expect([both.status, both.body.message]).toEqual([
    422,
    expect.stringMatching(/^10\.7\.0\.9 is reached through 2 objects; name one of /),
  ]);
  expect((await ask('from=laptop&to=192.0.2.1')).status).toBe(404);
  const route = {
    network_id: 'exit',
    network: '0.0.0.0/0',
    peer: gate,
    groups: [(await call('GET', '/api/groups?name=Developers')).body[0].id],
  };
  const rest = { description: '', enabled: true, metric: 5, masquerade: true, keep_route: false };
  expect((await call('POST', '/api/routes', { ...route, ...rest })).body.message).toBe(undefined);
  expect((await ask('from=laptop&to=192.0.2.1')).body).toMatchObject({ verdict: 'allow', to: { type: 'route' } });
});

it('rules that match neither end are omitted unless `all=true` is given', async () => {
  expect((await ask('from=Peer/db&to=Peer/db')).body).toMatchObject({ rules: [], otherRules: 2 });
  expect((await ask('from=Peer/db&to=Peer/db&all=true')).body).toMatchObject({ rules: [{}, {}], otherRules: 0 });
});

it.each([
  ['from=laptop', 422, '`to` is required; add it'],
  ['from=lapttop&to=db-1', 404, 'is called lapttop; did you mean Peer/laptop?'],
  ['from=laptop&to=db', 422, '2 objects are called db; name one of Peer/db, Group/db'],
  ['from=Group/devss&to=Group/db', 404, 'Group devss not found; did you mean devs?'],
  ['from=laptop&to=db-1&port=tcp/99999', 422, '`tcp/99999` is not a port or protocol'],
  ['from=laptop&to=db-1&port=http', 422, '`http` is not a port or protocol'],
])('GET /api/config/access?%s is answered with %i', async (query, status, message) => {
  const answer = await ask(query);
  expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(message)]);
});

it('heddle explain-access prints the explanation as text', async () => {
  const { code, out } = await server().heddle(['explain-access', 'laptop', 'db-1', '--port', 'tcp/5432']);
  expect([code, out.split('\n')]).toEqual([
    0,
    [
      'Allowed: `Peer laptop` may open tcp/5432 to `Peer db-1`: rule `pg` of policy `Data` lets tcp/5432 through',
      '',
      'Rules, in order of precedence:',
      expect.stringMatching(/^ {2}accept Data \/ pg: tcp\/5432 {2}\(office.yaml:\d+\) {2}decides$/),
      '      lets tcp/5432 through: `Peer laptop` is in `Developers`, `Peer db-1` is in `Databases`',
      '      Developers is stated at office.yaml:1',
      expect.stringMatching(/^ {6}Databases is stated at office.yaml:\d+$/),
      expect.stringMatching(/^ {2}accept Healthy \/ web: tcp\/80 {2}\(office.yaml:\d+\)$/),
      '      applies to tcp/80, not to the traffic in question',
      expect.stringContaining('posture check recent: not known (client_version_check)'),
      expect.stringContaining('Developers is stated at'),
      expect.stringContaining('Databases is stated at'),
      expect.stringContaining('recent is stated at'),
      '',
    ],
  ]);
});

it('a peer with an expired login is reported as cut off', async () => {
  const { api, heddle } = server();
  await putObjects(api.engine, api.account, (state) => {
    const laptop = state.findByKey('Peer', 'laptop');
    return laptop === undefined ? [] : [{ ...laptop, derived: { ...laptop.derived, login_expired: true } }];
  });
  const { body } = await ask('from=laptop&to=db-1&port=5432');
  expect(body).toMatchObject({ verdict: 'allow', from: { loginExpired: true } });
  expect(body.to).not.toHaveProperty('loginExpired');
  expect((await heddle(['explain-access', 'laptop', 'db-1', '--port', '5432'])).out).toContain(
    '\n  The login of Peer laptop has expired: it is cut off until its user signs in again.\n',
  );
});

it('heddle explain-access prints the explanation as JSON, and exits with 1 for an unknown object', async () => {
  const { document } = await server().json('explain-access', 'devs', 'Group/db');
  expect(document).toMatchObject({ formatVersion: '1.0', verdict: 'mixed', passes: 'tcp/5432' });
  const { code, note } = await server().heddle(['explain-access', 'devs', 'nobody']);
  expect([code, note]).toEqual([1, expect.stringContaining('is called nobody')]);
});
