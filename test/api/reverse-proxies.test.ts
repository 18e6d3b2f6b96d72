import { beforeAll, describe, expect, it } from 'vitest';
import { storedObject } from '../../src/engine/bootstrap.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { canonicalSpec } from '../../src/model/canonical.ts';
import { build } from '../../src/store/builder.ts';
import { putObjects } from '../setup/objects.ts';
import { problemsOf } from './problems.ts';
import { sharedApi, type TestApi, testApi } from './setup.ts';

const shared = sharedApi();
const services = '/api/reverse-proxies/services';
const clusters = '/api/reverse-proxies/clusters';

/** Puts a cluster there, the way its proxies will. */
async function addCluster({ engine, account }: TestApi, address: string, more: JsonObject = {}): Promise<string> {
  const kind = engine.registry.get('ProxyCluster');
  const id = engine.newId();
  const spec = canonicalSpec(kind, { address, type: 'account', ...more }).spec;
  await putObjects(engine, account, () => [
    storedObject(engine, { id, kind: kind.name, spec, derived: {} }, engine.now()),
  ]);
  return id;
}

let peer = '';
let users = '';
let network = '';
beforeAll(async () => {
  [peer = ''] = await shared().peers('web');
  users = await shared().group('users');
  network = (await shared().call('POST', '/api/networks', { name: 'office' })).body.id;
  await addCluster(shared(), 'proxy.example.com', { supports_custom_ports: true, supports_reputation: true });
  await addCluster(shared(), 'plain.example.com');
});

let made = 0;
function body(more: JsonObject = {}): JsonObject {
  made += 1;
  return { name: 'App', domain: `app${made}.proxy.example.com`, enabled: true, ...more };
}
function target(more: JsonObject = {}): JsonObject {
  return { target_id: peer, target_type: 'peer', protocol: 'http', port: 8080, enabled: true, ...more };
}
const post = (value: JsonObject, api = shared()) => api.call('POST', services, value);
const put = (id: string, value: JsonObject, api = shared()) => api.call('PUT', `${services}/${id}`, value);
const get = (id: string, api = shared()) => api.call('GET', `${services}/${id}`);
const remove = (id: string, api = shared()) => api.call('DELETE', `${services}/${id}`);

async function resource(name: string, address: string): Promise<string> {
  const made = { name, address, enabled: true, groups: [] };
  return (await shared().call('POST', `/api/networks/${network}/resources`, made)).body.id;
}

const noOptions = { skip_tls_verify: false, proxy_protocol: false, direct_upstream: false };

it('makes, reads, lists, replaces and deletes a service', async () => {
  const api = shared();
  const given = body({ targets: [target({ path: '/', host: 'ignored.example.com' })] });
  const answer = await post(given);
  const { id, meta } = answer.body;
  expect([answer.status, answer.body]).toEqual([
    200,
    {
      id,
      name: 'App',
      domain: given['domain'],
      mode: 'http',
      listen_port: 0,
      port_auto_assigned: false,
      proxy_cluster: 'proxy.example.com',
      targets: [{ ...target(), path: '/', host: '100.64.0.1', options: noOptions }],
      enabled: true,
      terminated: false,
      pass_host_header: false,
      rewrite_redirects: false,
      auth: {},
      meta: { created_at: expect.any(String), status: 'pending' },
      private: false,
    },
  ]);
  expect((await get(id)).body).toEqual(answer.body);
  expect((await api.call('GET', services)).body).toContainEqual(answer.body);
  const changed = await put(id, {
    name: 'Other',
    domain: given['domain'] ?? '',
    enabled: false,
    pass_host_header: true,
  });
  expect(changed.body).toEqual({ ...answer.body, name: 'Other', targets: [], enabled: false, pass_host_header: true });
  expect(changed.body.meta).toEqual(meta);
  const gone = await remove(id);
  expect([gone.status, gone.body]).toEqual([200, '']);
  for (const answer of [await get(id), await remove(id), await put(id, given)]) {
    expect([answer.status, answer.body.message]).toEqual([404, `proxyservice ${id} not found`]);
  }
});

it('asks for what a service and a target must have', async () => {
  const answer = await post({ targets: [{}] });
  expect(answer.status).toBe(422);
  for (const name of ['name', 'domain', 'enabled', 'target_id', 'target_type', 'protocol', 'port'])
    expect(JSON.stringify(answer.body.problems), name).toContain(`\`${name}\` is required`);
});

it.each<readonly [string, Json, string]>([
  ['name', 'x'.repeat(255), ''],
  ['name', 'x'.repeat(256), 'value_too_long /name'],
  ['name', '', 'value_too_short /name'],
  ['domain', '', 'value_too_short /domain'],
  ['domain', 'not a domain', 'domain_invalid /domain'],
  ['mode', 'smtp', 'value_not_allowed /mode'],
  ['listen_port', 65536, 'value_out_of_range /listen_port'],
  ['listen_port', -1, 'value_out_of_range /listen_port'],
  ['targets', [{ port: 0 }], 'value_out_of_range /targets/0/port'],
  ['targets', [{ port: 65535 }], ''],
  ['targets', [{ port: 65536 }], 'value_out_of_range /targets/0/port'],
  ['targets', [{ target_type: 'group' }], 'value_not_allowed /targets/0/target_type'],
  ['targets', [{ target_id: '' }], 'value_too_short /targets/0/target_id'],
  ['targets', [{ target_id: 'nobody' }], 'reference_unknown /targets/0/target_id'],
  ['targets', [{ target_type: 'host' }], 'reference_unknown /targets/0/target_id'],
  ['targets', [{ options: { path_rewrite: 'cut' } }], 'value_not_allowed /targets/0/options/path_rewrite'],
  ['targets', [{ options: { custom_headers: headers(16) } }], ''],
  ['targets', [{ options: { custom_headers: headers(17) } }], 'object_too_large /targets/0/options/custom_headers'],
  ['targets', [{ options: { custom_headers: { A: 'x'.repeat(4096) } } }], ''],
  [
    'targets',
    [{ options: { custom_headers: { A: 'x'.repeat(4097) } } }],
    'value_too_long /targets/0/options/custom_headers/A',
  ],
  [
    'targets',
    [{ options: { custom_headers: { hOST: 'x' } } }],
    'header_name_managed /targets/0/options/custom_headers/hOST',
  ],
  ['access_restrictions', { allowed_cidrs: ranges(200) }, ''],
  ['access_restrictions', { allowed_cidrs: ranges(201) }, 'list_too_long /access_restrictions/allowed_cidrs'],
  ['access_restrictions', { blocked_countries: countries(50) }, ''],
  ['access_restrictions', { blocked_countries: countries(51) }, 'list_too_long /access_restrictions/blocked_countries'],
  ['access_restrictions', { allowed_ciders: [] }, 'field_unknown /access_restrictions/allowed_ciders'],
  ['access_restrictions', { crowdsec_mode: 'off' }, 'field_renamed /access_restrictions/crowdsec_mode'],
  ['auth', { pasword_auth: {} }, 'field_unknown /auth/pasword_auth'],
  ['auth', { link_auth: { enabled: true, on: true } }, 'field_unknown /auth/link_auth/on'],
  ['auth', { header_auths: [{ enabled: false, header: 'X', name: 'Y' }] }, 'field_unknown /auth/header_auths/0/name'],
  ['access_groups', ['nobody'], 'reference_unknown /access_groups/0'],
])('%s %j is answered with %j', async (name, value, problem) => {
  const given = name === 'targets' ? (value as readonly JsonObject[]).map(target) : value;
  const answer = await post(body({ [name]: given }));
  expect([answer.status, ...problemsOf(answer)]).toEqual(problem === '' ? [200] : [422, problem]);
});

function headers(count: number): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`X-${at}`, 'x']));
}
function ranges(count: number): Json {
  return Array.from({ length: count }, (_, at) => `10.0.${at}.0/24`);
}
function countries(count: number): Json {
  return Array.from(
    { length: count },
    (_, at) => `${String.fromCharCode(97 + Math.floor(at / 26))}${String.fromCharCode(97 + (at % 26))}`,
  );
}

it('ignores unknown members elsewhere, and names them', async () => {
  const answer = await post(body({ colour: 'red', targets: [target({ weight: 1 })] }));
  expect([answer.status, answer.headers['heddle-ignored']]).toEqual([200, '/colour, /targets/0/weight']);
});

it('gives a domain to one service', async () => {
  const given = body();
  await post(given);
  const again = await post({ ...given, domain: String(given['domain']).toUpperCase() });
  expect([again.status, again.body.message]).toEqual([
    409,
    `a service with the domain \`${given['domain']}\` already exists; choose another domain`,
  ]);
});

it('keeps services of unknown clusters as pending, without what a cluster must be asked for', async () => {
  const domain = `app${made}.elsewhere.example.net`;
  const answer = await post(body({ domain }));
  expect([answer.status, answer.body.meta.status]).toEqual([200, 'pending']);
  expect(answer.body).not.toHaveProperty('proxy_cluster');
  const tcp = await post(body({ domain: `tcp.${domain}`, mode: 'tcp' }));
  expect(tcp.body).toMatchObject({ port_auto_assigned: true, listen_port: expect.any(Number) });
  for (const unknown of [`x.${domain}`, 'x.plain.example.com']) {
    const port = await post(body({ domain: unknown, mode: 'tcp', listen_port: 5432 }));
    expect([port.status, ...problemsOf(port)]).toEqual([422, 'service_port_unsupported /listen_port']);
    const repute = await post(body({ domain: unknown, access_restrictions: { reputation_mode: 'observe' } }));
    expect([repute.status, ...problemsOf(repute)]).toEqual([
      422,
      'service_reputation_unsupported /access_restrictions/reputation_mode',
    ]);
  }
  const known = await post(body({ access_restrictions: { reputation_mode: 'enforce' } }));
  expect(known.body.access_restrictions).toEqual({
    ...{ allowed_cidrs: [], blocked_cidrs: [], allowed_countries: [], blocked_countries: [] },
    reputation_mode: 'enforce',
  });
});

describe('ports', () => {
  it.each(['tcp', 'udp', 'tls'])('of %s are chosen by the server, and stay', async (mode) => {
    const given = body({ mode, targets: [target({ protocol: 'tcp' })] });
    const { body: first } = await post(given);
    expect(first).toMatchObject({ port_auto_assigned: true });
    expect(first.listen_port).toBeGreaterThan(1023);
    const before = await shared().revision();
    expect((await put(first.id, first)).body).toEqual(first);
    expect((await put(first.id, { ...given, listen_port: 0 })).body).toEqual(first);
    expect((await put(first.id, given)).body).toEqual(first);
    expect(await shared().revision()).toBe(before);
    const other = await post(body({ mode, listen_port: 0 }));
    expect(other.body.listen_port).not.toBe(first.listen_port);
  });

  it('of one’s choice stay when a replace leaves the choice to the server', async () => {
    const given = body({ mode: 'tcp', listen_port: 5432 });
    const { body: first } = await post(given);
    expect(first).toMatchObject({ listen_port: 5432, port_auto_assigned: false });
    expect((await put(first.id, { ...given, listen_port: 0 })).body).toEqual(first);
    const moved = await put(first.id, { ...given, listen_port: 5433 });
    expect(moved.body).toMatchObject({ listen_port: 5433, port_auto_assigned: false });
  });

  it('can be chosen after the server chose, and are then somebody else’s to have', async () => {
    const given = body({ mode: 'tcp' });
    const { body: first } = await post(given);
    expect((await put(first.id, { ...given, listen_port: 7000 })).body).toMatchObject({
      listen_port: 7000,
      port_auto_assigned: false,
    });
    const other = await post(body({ mode: 'tcp', listen_port: first.listen_port }));
    expect(other.body).toMatchObject({ listen_port: first.listen_port, port_auto_assigned: false });
  });

  it('lead to one service of a cluster', async () => {
    const given = body({ mode: 'tcp', listen_port: 6379 });
    expect((await post(given)).status).toBe(200);
    const again = await post(body({ mode: 'tcp', listen_port: 6379 }));
    expect([again.status, ...problemsOf(again)]).toEqual([409, 'value_taken /listen_port']);
    expect(again.body.message).toContain('already exists');
  });

  it('are different for many that are made at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(body({ mode: 'tcp' }))));
    const ports = answers.map(({ body }) => body.listen_port);
    expect(new Set(ports).size).toBe(20);
  });
});

it('does not let the mode change', async () => {
  const given = body({ mode: 'tcp' });
  const { id } = (await post(given)).body;
  const answer = await put(id, { ...given, mode: 'udp' });
  expect([answer.status, ...problemsOf(answer)]).toEqual([422, 'service_mode_fixed /mode']);
  const { mode: _, ...without } = given as { mode: string } & JsonObject;
  expect((await put(id, without)).body.mode).toBe('tcp');
});

describe('targets', () => {
  it('of each type show the host that follows from what they name', async () => {
    const host = await resource('printer', '10.20.0.5');
    const v6 = await resource('printer6', '2001:db8::5');
    const subnet = await resource('lab', '10.30.0.0/16');
    const domain = await resource('wiki', 'wiki.example.com');
    const hostsOf = async (...targets: readonly JsonObject[]) => {
      const answer = await post(body({ targets: targets.map(target) }));
      return answer.body.targets?.map((shown: JsonObject) => shown['host']) ?? problemsOf(answer);
    };
    const direct = { options: { direct_upstream: true } };
    expect(
      await hostsOf(
        { target_id: host, target_type: 'host' },
        { target_id: v6, target_type: 'host', host: '10.9.9.9' },
        { target_id: domain, target_type: 'domain' },
        { target_id: subnet, target_type: 'subnet', host: '10.30.0.9' },
        { target_id: host, target_type: 'host', host: '192.0.2.1', ...direct },
        { target_id: 'proxy.example.com', target_type: 'cluster', host: 'backend.example.com', ...direct },
      ),
    ).toEqual(['10.20.0.5', '2001:db8::5', 'wiki.example.com', '10.30.0.9', '192.0.2.1', 'backend.example.com']);
    expect(await hostsOf({ target_id: subnet, target_type: 'host' })).toEqual([
      'target_type_wrong /targets/0/target_type',
    ]);
    expect(await hostsOf({ target_id: host, target_type: 'peer' })).toEqual(['reference_unknown /targets/0/target_id']);
  });

  it('cannot be deleted while a service needs them', async () => {
    const [own = ''] = await shared().peers('target');
    const host = await resource('needed', '10.20.0.77');
    const { id } = (
      await post(
        body({
          name: 'Needs',
          targets: [target({ target_id: own }), target({ target_id: host, target_type: 'host' })],
        }),
      )
    ).body;
    const resourceUrl = `/api/networks/${network}/resources/${host}`;
    const refused = await shared().call('DELETE', resourceUrl);
    expect([refused.status, refused.body.message]).toEqual([
      412,
      'networkresource has been linked to proxyservice: Needs; remove it there first',
    ]);
    expect((await shared().call('DELETE', `/api/networks/${network}`)).status).toBe(412);
    const kept = await shared().call('DELETE', `/api/peers/${own}`);
    expect([kept.status, kept.body.message]).toEqual([
      412,
      'peer has been linked to proxyservice: Needs; remove it there first',
    ]);
    await remove(id);
    expect((await shared().call('DELETE', resourceUrl)).status).toBe(200);
    expect((await shared().call('DELETE', `/api/peers/${own}`)).status).toBe(200);
  });

  it('keep what they are told in one spelling', async () => {
    const options = { request_timeout: '0m90s', custom_headers: { 'X-B': '2', 'X-A': '1' }, path_rewrite: 'preserve' };
    const answer = await post(body({ targets: [target({ options })] }));
    expect(answer.body.targets[0].options).toEqual({ ...noOptions, ...options, request_timeout: '1m30s' });
  });
});

describe('secrets', () => {
  const planted = ['hunter2-password', '9731-pin', 'hunter2-header'];
  const auth = (password: string, pin: string, value: string): JsonObject => ({
    password_auth: { enabled: true, password },
    pin_auth: { enabled: true, pin },
    header_auths: [{ enabled: true, header: 'X-Key', value }],
  });

  it('come back empty and are kept when they are sent empty or not at all', async () => {
    const [password = '', pin = '', value = ''] = planted;
    const given = body({ auth: auth(password, pin, value) });
    const { body: first } = await post(given);
    expect(first.auth).toEqual(auth('', '', ''));
    const before = await shared().revision();
    expect((await put(first.id, first)).body).toEqual(first);
    const leftOut = {
      password_auth: { enabled: true },
      pin_auth: { enabled: true },
      header_auths: [{ enabled: true, header: 'X-Key' }],
    };
    expect((await put(first.id, { ...given, auth: leftOut })).body).toEqual(first);
    expect((await put(first.id, given)).body).toEqual(first);
    expect(await shared().revision()).toBe(before);
    await put(first.id, { ...given, auth: auth('another', '', '') });
    expect(await shared().revision()).toBe(before + 1);
  });

  it('are forgotten with their way of signing in', async () => {
    const given = body({ auth: auth('a', 'b', 'c') });
    const { id } = (await post(given)).body;
    const disabled = await put(id, {
      ...given,
      auth: { password_auth: { enabled: false, password: '' }, header_auths: [{ enabled: false, header: 'X-Key' }] },
    });
    expect(disabled.body.auth).toEqual({
      password_auth: { enabled: false, password: '' },
      header_auths: [{ enabled: false, header: 'X-Key', value: '' }],
    });
    const again = await put(id, { ...given, auth: auth('', '', '') });
    expect([again.status, ...problemsOf(again)]).toEqual([
      422,
      'service_secret_missing /auth/header_auths/0/value',
      'service_secret_missing /auth/password_auth/password',
      'service_secret_missing /auth/pin_auth/pin',
    ]);
    expect((await put(id, { ...given, auth: {} })).body.auth).toEqual({});
  });

  it('are nowhere but sealed', async () => {
    const { engine, account } = shared();
    await post(body({ auth: auth(...(planted as [string, string, string])) }));
    for (const table of ['objects', 'audit_events', 'revisions'] as const) {
      const [rows] = await engine.database.inAccount(account, [
        build.selectFrom(table).selectAll().where('account_id', '=', account).compile(),
      ]);
      for (const secret of planted) expect(JSON.stringify(rows), table).not.toContain(secret);
    }
    const exported = await shared().call('GET', '/api/config/export?kind=ProxyService');
    for (const secret of planted) expect(exported.body).not.toContain(secret);
  });
});

it('links the groups that it names', async () => {
  const [bearer, access] = [await shared().group('bearer'), await shared().group('access')];
  await post(body({ name: 'Open', auth: { bearer_auth: { enabled: true, distribution_groups: [bearer] } } }));
  await post(body({ name: 'Own', private: true, access_groups: [access] }));
  for (const [id, name] of [
    [bearer, 'Open'],
    [access, 'Own'],
  ]) {
    const refused = await shared().call('DELETE', `/api/groups/${id}`);
    expect(refused.status).toBe(400);
    expect(refused.body.message).toContain(`proxyservice: ${name}`);
  }
  const { body: ignored } = await post(body({ access_groups: [users] }));
  expect(ignored).not.toHaveProperty('access_groups');
});

describe('private services', () => {
  const rulesOf = (policy: JsonObject) =>
    (policy['rules'] as readonly JsonObject[]).map(
      ({ sources, destinations, protocol, ports, action, bidirectional }) => ({
        sources: (sources as readonly JsonObject[]).map(({ name }) => name),
        destinations: (destinations as readonly JsonObject[]).map(({ name }) => name),
        ...{ protocol, ports, action, bidirectional },
      }),
    );

  it('bring their access policy along, which nobody else changes', async () => {
    await using api = await testApi();
    const group = await api.group('staff');
    const second = await api.group('guests');
    await addCluster(api, 'proxy.example.com');
    await addCluster(api, 'other.example.com');
    const policies = async (): Promise<readonly JsonObject[]> =>
      (await api.call('GET', '/api/policies')).body.filter(({ name }: JsonObject) =>
        String(name).startsWith('Access to'),
      );
    const groups = async () => (await api.call('GET', '/api/groups')).body.map(({ name }: JsonObject) => name).sort();
    const given = {
      name: 'Wiki',
      domain: 'wiki.proxy.example.com',
      enabled: true,
      private: true,
      access_groups: [group],
    };
    const { id } = (await post(given, api)).body;
    const [policy = {}] = await policies();
    expect(policy).toMatchObject({ name: 'Access to Wiki', enabled: true, source_posture_checks: [] });
    expect(policy['description']).toContain('Wiki (wiki.proxy.example.com)');
    expect(rulesOf(policy)).toEqual([
      {
        sources: ['staff'],
        destinations: ['Proxies of proxy.example.com'],
        protocol: 'tcp',
        ports: ['80', '443'],
        action: 'accept',
        bidirectional: false,
      },
    ]);
    expect(await groups()).toEqual(['All', 'Proxies of proxy.example.com', 'guests', 'staff']);

    const url = `/api/policies/${policy['id']}`;
    for (const refused of [await api.call('PUT', url, { ...policy, name: 'Mine' }), await api.call('DELETE', url)]) {
      expect(refused.status).toBe(409);
      expect(refused.body.message).toContain('change or delete that service instead');
    }
    expect((await api.call('PUT', url, policy)).status).toBe(200);
    const proxies = (await api.call('GET', '/api/groups?name=Proxies%20of%20proxy.example.com')).body[0];
    expect((await api.call('PUT', `/api/groups/${proxies.id}`, { name: 'Mine' })).status).toBe(422);
    expect((await api.call('DELETE', `/api/groups/${proxies.id}`)).status).toBe(400);
    const exported = await api.call('GET', '/api/config/export');
    expect(exported.body).toContain('kind: ProxyService');
    expect(exported.body).not.toMatch(/Access to|kind: Group\nmetadata:\n {2}name: proxies/);

    await put(id, { ...given, name: 'Handbook', enabled: false, access_groups: [group, second] }, api);
    expect(await policies()).toMatchObject([{ id: policy['id'], name: 'Access to Handbook', enabled: false }]);
    expect(rulesOf((await policies())[0] ?? {})[0]?.sources).toEqual(expect.arrayContaining(['staff', 'guests']));
    await put(id, { ...given, domain: 'wiki.other.example.com' }, api);
    expect(rulesOf((await policies())[0] ?? {})[0]?.destinations).toEqual(['Proxies of other.example.com']);
    await put(id, { ...given, private: false }, api);
    expect(await policies()).toEqual([]);
    await put(id, given, api);
    expect((await policies()).length).toBe(1);
    await remove(id, api);
    expect(await policies()).toEqual([]);
  });

  it('wait for their cluster, and are left by it', async () => {
    await using api = await testApi();
    const group = await api.group('staff');
    const given = { enabled: true, private: true, access_groups: [group] };
    for (const name of ['one', 'two']) await post({ ...given, name, domain: `${name}.proxy.example.com` }, api);
    const destinations = async () =>
      (await api.call('GET', '/api/policies')).body
        .filter(({ name }: JsonObject) => String(name).startsWith('Access to'))
        .map((policy: JsonObject) => `${policy['name']}: ${rulesOf(policy)[0]?.destinations.join()}`)
        .sort();
    expect(await destinations()).toEqual([]);
    await addCluster(api, 'example.com');
    expect(await destinations()).toEqual([
      'Access to one: Proxies of example.com',
      'Access to two: Proxies of example.com',
    ]);
    await addCluster(api, 'proxy.example.com');
    expect(await destinations()).toEqual([
      'Access to one: Proxies of proxy.example.com',
      'Access to two: Proxies of proxy.example.com',
    ]);
    expect((await api.call('DELETE', `${clusters}/proxy.example.com`)).status).toBe(200);
    expect(await destinations()).toEqual([
      'Access to one: Proxies of example.com',
      'Access to two: Proxies of example.com',
    ]);
    expect((await api.call('DELETE', `${clusters}/example.com`)).status).toBe(200);
    expect(await destinations()).toEqual([]);
    expect((await api.call('GET', '/api/groups')).body.map(({ name }: JsonObject) => name).sort()).toEqual([
      'All',
      'staff',
    ]);
  });
});

describe('documents', () => {
  const document = (kind: string, name: string, spec: string) =>
    `apiVersion: heddle.dev/v1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;
  const source = (text: string) => ({ source: 'git', files: [{ path: 'a.yaml', text }] });
  const counts = { create: 0, update: 0, delete: 0, claims: 0 };

  it('plan to nothing after they were applied, the chosen port, the policy and all (E37)', async () => {
    await using api = await testApi();
    await api.peers('web', 'db');
    await addCluster(api, 'proxy.example.com');
    const text = [
      document('Group', 'staff', '{}'),
      document(
        'ProxyService',
        'wiki',
        '{domain: wiki.proxy.example.com, private: true, access_groups: [staff], targets: [{target_id: web, target_type: peer, protocol: http, port: 80, options: {request_timeout: 0m30s}}]}',
      ),
      document(
        'ProxyService',
        'db',
        '{domain: db.proxy.example.com, mode: tcp, listen_port: 0, targets: [{target_id: db, target_type: peer, protocol: tcp, port: 5432}]}',
      ),
      document('ProxyService', 'mail', '{domain: mail.proxy.example.com, mode: tls}'),
    ].join('---\n');
    const plan = await api.call('POST', '/api/config/plans', source(text));
    expect(plan.body.changes.map(({ kind, name }: JsonObject) => `${kind} ${name}`).sort()).toEqual([
      'Group Proxies of proxy.example.com',
      'Group staff',
      'Policy Access to wiki',
      'ProxyService db',
      'ProxyService mail',
      'ProxyService wiki',
    ]);
    const applied = await api.call('POST', '/api/config/apply', source(text));
    expect(applied.status).toBe(200);
    const list: readonly JsonObject[] = (await api.call('GET', services)).body;
    const ports = list.map(({ name, listen_port, port_auto_assigned }) => [name, listen_port, port_auto_assigned]);
    expect(ports.sort()).toEqual([
      ['db', expect.any(Number), true],
      ['mail', expect.any(Number), true],
      ['wiki', 0, false],
    ]);
    expect(new Set(ports.map(([, port]) => port)).size).toBe(3);
    expect((await api.call('POST', '/api/config/plans', source(text))).body.counts).toEqual(counts);
    const exported = (await api.call('GET', '/api/config/export')).body;
    expect(
      (await api.call('POST', '/api/config/plans', { ...source(exported), source: 'other' })).body.counts,
    ).toMatchObject({
      ...counts,
      claims: expect.any(Number),
    });
    const gone = await api.call('POST', '/api/config/plans', source(document('Group', 'staff', '{}')));
    expect(gone.body.changes.map(({ action, kind, name }: JsonObject) => `${action} ${kind} ${name}`).sort()).toEqual([
      'delete Policy Access to wiki',
      'delete ProxyService db',
      'delete ProxyService mail',
      'delete ProxyService wiki',
    ]);
  });

  it('let go of groups together with the private service that names them', async () => {
    await using api = await testApi();
    await addCluster(api, 'proxy.example.com');
    const service = (group: string) =>
      document('ProxyService', 'a', `{domain: a.proxy.example.com, private: true, access_groups: [${group}]}`);
    const groups = (...names: readonly string[]) => names.map((name) => document('Group', name, '{}'));
    await api.call('POST', '/api/config/apply', source([...groups('x', 'y', 'z'), service('x')].join('---\n')));
    const planned = async (...documents: readonly string[]) => {
      const { body } = await api.call('POST', '/api/config/plans', source(documents.join('---\n')));
      return [
        body.warnings,
        body.changes.map(({ action, kind, name }: JsonObject) => `${action} ${kind} ${name}`).sort(),
      ];
    };
    expect(await planned(...groups('y', 'z'), service('y'))).toEqual([
      [],
      ['delete Group x', 'update Policy Access to a', 'update ProxyService a'],
    ]);
    expect(await planned(...groups('y', 'z'))).toEqual([
      [],
      ['delete Group x', 'delete Policy Access to a', 'delete ProxyService a'],
    ]);
  });

  it('cannot change the mode, make a cluster, or carry a secret', async () => {
    await using api = await testApi();
    const service = (spec: string) => document('ProxyService', 'a', `{domain: a.example.com, ${spec}}`);
    await api.call('POST', '/api/config/apply', source(service('mode: tcp')));
    const codes = async (text: string) => problemsOf(await api.call('POST', '/api/config/validate', source(text)));
    expect(await codes(service('mode: udp'))).toEqual(['service_mode_fixed /spec/mode']);
    expect(await codes(document('ProxyCluster', 'a', '{}'))).toEqual(['kind_not_declarable /kind']);
    expect(await codes(service('auth: {pin_auth: {enabled: true, pin: "1234"}}'))).toEqual([
      'secret_literal /spec/auth/pin_auth/pin',
    ]);
  });
});

describe('clusters', () => {
  it('are listed with what their proxies reported', async () => {
    await using api = await testApi();
    expect((await api.call('GET', clusters)).body).toEqual([]);
    const abilities = {
      supports_custom_ports: true,
      require_subdomain: false,
      supports_reputation: true,
      private: false,
    };
    const own = await addCluster(api, 'proxy.example.com', abilities);
    const other = await addCluster(api, 'shared.example.com', { type: 'shared' });
    const state = { online: false, connected_proxies: 0 };
    expect((await api.call('GET', clusters)).body).toEqual([
      { id: own, address: 'proxy.example.com', type: 'account', ...abilities, ...state },
      { id: other, address: 'shared.example.com', type: 'shared', ...state },
    ]);
  });

  it('are removed by their address, percent-encoded or not, when they are the account’s', async () => {
    await using api = await testApi();
    await addCluster(api, 'one.example.com');
    await addCluster(api, 'two.example.com');
    await addCluster(api, 'shared.example.com', { type: 'shared' });
    const gone = await api.call('DELETE', `${clusters}/one.example.com`);
    expect([gone.status, gone.body]).toEqual([200, '']);
    expect((await api.call('DELETE', `${clusters}/%74wo%2Eexample%2Ecom`)).status).toBe(200);
    for (const address of ['one.example.com', 'shared.example.com', 'no%20such']) {
      const missing = await api.call('DELETE', `${clusters}/${address}`);
      expect(missing.status).toBe(404);
      expect(missing.body.message).toContain('not found');
    }
    expect((await api.call('GET', clusters)).body.length).toBe(1);
    expect((await api.call('POST', clusters, { address: 'x' })).status).toBe(405);
  });
});

it('tells the audit trail what happened', async () => {
  await using api = await testApi();
  const { engine, account } = api;
  const [web = ''] = await api.peers('web');
  await addCluster(api, 'proxy.example.com');
  const given = {
    name: 'Db',
    domain: 'db.proxy.example.com',
    mode: 'tcp',
    enabled: true,
    targets: [target({ target_id: web, options: { proxy_protocol: true, request_timeout: '30s' } })],
  };
  const { body: made } = await post(given, api);
  await put(made.id, { ...given, name: 'Database' }, api);
  await remove(made.id, api);
  await api.call('DELETE', `${clusters}/proxy.example.com`);
  const query = build.selectFrom('audit_events').selectAll().where('account_id', '=', account).orderBy('id');
  const [rows = []] = await engine.database.inAccount(account, [query.compile()]);
  const events = rows.slice(-4).map(({ activity_code, target_id, meta }) => ({ activity_code, target_id, meta }));
  const meta = {
    name: 'Database',
    domain: 'db.proxy.example.com',
    proxy_cluster: 'proxy.example.com',
    source: 'permanent',
    auth: 'false',
    mode: 'tcp',
    listen_port: String(made.listen_port),
    target_id: web,
    target_type: 'peer',
    proxy_protocol: 'true',
    request_timeout: '30s',
  };
  expect(events).toEqual([
    { activity_code: 'service.create', target_id: made.id, meta: { ...meta, name: 'Db' } },
    { activity_code: 'service.update', target_id: made.id, meta },
    { activity_code: 'service.delete', target_id: made.id, meta },
    {
      activity_code: 'service.cluster.delete',
      target_id: expect.any(String),
      meta: { name: 'proxy.example.com', proxy_cluster: 'proxy.example.com' },
    },
  ]);
});
