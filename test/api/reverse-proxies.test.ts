import { describe, expect, it } from 'vitest';
import { queryBuilder } from '../../src/db/builder.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { problemsOf } from './problems.ts';
import { serviceScene, services } from './reverse-proxy-scene.ts';

const { shared, made, body, target, post, put, get, remove, resource } = serviceScene();

it('a service is created, read, listed, replaced and deleted', async () => {
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
      targets: [{ ...target(), path: '/', host: '100.64.0.1', options: {} }],
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
    expect([answer.status, answer.body.message]).toEqual([404, `proxy service ${id} not found`]);
  }
});

it('a service and a target without required fields are refused, naming each field', async () => {
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
])('a service with %s %j reports the problem %j', async (name, value, problem) => {
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

it('unknown members outside `auth` and `access_restrictions` are ignored, and listed in Heddle-Ignored', async () => {
  const answer = await post(body({ colour: 'red', targets: [target({ weight: 1 })] }));
  expect([answer.status, answer.headers['heddle-ignored']]).toEqual([200, '/colour, /targets/0/weight']);
});

it('a second service with the same domain is refused, whatever its case', async () => {
  const given = body();
  await post(given);
  const again = await post({ ...given, domain: String(given['domain']).toUpperCase() });
  expect([again.status, again.body.message]).toEqual([
    409,
    `a service with the domain \`${given['domain']}\` already exists; choose another domain`,
  ]);
});

it('services of unknown clusters are pending, and cannot use what depends on abilities of a cluster', async () => {
  const domain = 'app.elsewhere.example.net';
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
  expect(known.body.access_restrictions).toEqual({ reputation_mode: 'enforce' });
});

describe('ports of a service', () => {
  it.each(['tcp', 'udp', 'tls'])(
    'of %s are chosen by the server, and stay the same when the service is replaced',
    async (mode) => {
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
    },
  );

  it('that the caller chose stay when a replace leaves the choice to the server', async () => {
    const given = body({ mode: 'tcp', listen_port: 5432 });
    const { body: first } = await post(given);
    expect(first).toMatchObject({ listen_port: 5432, port_auto_assigned: false });
    expect((await put(first.id, { ...given, listen_port: 0 })).body).toEqual(first);
    const moved = await put(first.id, { ...given, listen_port: 5433 });
    expect(moved.body).toMatchObject({ listen_port: 5433, port_auto_assigned: false });
  });

  it('can be chosen after the server chose one, which is then free for another service', async () => {
    const given = body({ mode: 'tcp' });
    const { body: first } = await post(given);
    expect((await put(first.id, { ...given, listen_port: 7000 })).body).toMatchObject({
      listen_port: 7000,
      port_auto_assigned: false,
    });
    const other = await post(body({ mode: 'tcp', listen_port: first.listen_port }));
    expect(other.body).toMatchObject({ listen_port: first.listen_port, port_auto_assigned: false });
  });

  it('are used by one service of a cluster only', async () => {
    const given = body({ mode: 'tcp', listen_port: 6379 });
    expect((await post(given)).status).toBe(200);
    const again = await post(body({ mode: 'tcp', listen_port: 6379 }));
    expect([again.status, ...problemsOf(again)]).toEqual([409, 'value_taken /listen_port']);
    expect(again.body.message).toContain('already exists');
  });

  it('are different for 20 services that are created at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(body({ mode: 'tcp' }))));
    const ports = answers.map(({ body }) => body.listen_port);
    expect(new Set(ports).size).toBe(20);
  });
});

it('the mode of a service cannot be changed', async () => {
  const given = body({ mode: 'tcp' });
  const { id } = (await post(given)).body;
  const answer = await put(id, { ...given, mode: 'udp' });
  expect([answer.status, ...problemsOf(answer)]).toEqual([422, 'service_mode_fixed /mode']);
  const { mode: _, ...without } = given as { mode: string } & JsonObject;
  expect((await put(id, without)).body.mode).toBe('tcp');
});

describe('targets of a service', () => {
  it('show the host that follows from their type and id', async () => {
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

  it('cannot be deleted while a service uses them', async () => {
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
    const resourceUrl = `/api/networks/${made.network}/resources/${host}`;
    const refused = await shared().call('DELETE', resourceUrl);
    expect([refused.status, refused.body.message]).toEqual([
      412,
      'network resource has been linked to proxy service: Needs; remove it there first',
    ]);
    expect((await shared().call('DELETE', `/api/networks/${made.network}`)).status).toBe(412);
    const kept = await shared().call('DELETE', `/api/peers/${own}`);
    expect([kept.status, kept.body.message]).toEqual([
      412,
      'peer has been linked to proxy service: Needs; remove it there first',
    ]);
    await remove(id);
    expect((await shared().call('DELETE', resourceUrl)).status).toBe(200);
    expect((await shared().call('DELETE', `/api/peers/${own}`)).status).toBe(200);
  });

  it('keep their options, with the timeout as it was written', async () => {
    const options = { request_timeout: '0m90s', custom_headers: { 'X-B': '2', 'X-A': '1' }, path_rewrite: 'preserve' };
    const answer = await post(body({ targets: [target({ options })] }));
    expect(answer.body.targets[0].options).toEqual(options);
  });
});

describe('secrets of a service', () => {
  const planted = ['hunter2-password', '9731-pin', 'hunter2-header'];
  const auth = (password: string, pin: string, value: string): JsonObject => ({
    password_auth: { enabled: true, password },
    pin_auth: { enabled: true, pin },
    header_auths: [{ enabled: true, header: 'X-Key', value }],
  });

  it('are returned empty, and kept when they are sent empty or omitted', async () => {
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

  it('are deleted when their authentication method is disabled or removed', async () => {
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

  it('are in no table and no export in plain text', async () => {
    const { engine, account } = shared();
    await post(body({ auth: auth(...(planted as [string, string, string])) }));
    for (const table of ['objects', 'audit_events', 'revisions'] as const) {
      const [rows] = await engine.database.inAccount(account, [
        queryBuilder.selectFrom(table).selectAll().where('account_id', '=', account).compile(),
      ]);
      for (const secret of planted) expect(JSON.stringify(rows), table).not.toContain(secret);
    }
    const exported = await shared().call('GET', '/api/config/export?kind=ProxyService');
    for (const secret of planted) expect(exported.body).not.toContain(secret);
  });
});

it('a service keeps the groups that it names from being deleted', async () => {
  const [bearer, access] = [await shared().group('bearer'), await shared().group('access')];
  await post(body({ name: 'Open', auth: { bearer_auth: { enabled: true, distribution_groups: [bearer] } } }));
  await post(body({ name: 'Own', private: true, access_groups: [access] }));
  for (const [id, name] of [
    [bearer, 'Open'],
    [access, 'Own'],
  ]) {
    const refused = await shared().call('DELETE', `/api/groups/${id}`);
    expect(refused.status).toBe(400);
    expect(refused.body.message).toContain(`proxy service: ${name}`);
  }
  const { body: ignored } = await post(body({ access_groups: [made.users] }));
  expect(ignored).not.toHaveProperty('access_groups');
});

describe('optional members of a service', () => {
  it('are returned if they were given, even with their default value, and are absent otherwise', async () => {
    const given = {
      targets: [
        target({ options: { skip_tls_verify: false, direct_upstream: false } }),
        target({ path: '/b', options: { request_timeout: '5s' } }),
        target({ path: '/c' }),
      ],
      access_restrictions: { blocked_countries: ['DE'], allowed_cidrs: [], reputation_mode: 'off' },
    };
    const made = (await post(body(given))).body;
    const options = made.targets.map(({ options }: JsonObject) => options);
    expect(options).toEqual([{ skip_tls_verify: false, direct_upstream: false }, { request_timeout: '5s' }, {}]);
    expect(made.access_restrictions).toEqual(given.access_restrictions);
    expect((await get(made.id)).body).toEqual(made);
    // Members count as given when the last request contained them.
    const { targets, access_restrictions: _, ...rest } = made;
    const fewer = targets.map(({ options: __, ...one }: JsonObject) => one);
    const changed = (await put(made.id, { ...rest, targets: fewer })).body;
    expect(changed.targets.map(({ options }: JsonObject) => options)).toEqual([{}, {}, {}]);
    expect(changed).not.toHaveProperty('access_restrictions');
  });
});

describe('access groups of a service that is not private', () => {
  it('are ignored, whatever they contain', async () => {
    for (const access_groups of [['nobody'], [made.users], 'x', [5]]) {
      const answer = await post(body({ access_groups }));
      expect([answer.status, answer.body.access_groups]).toEqual([200, undefined]);
      const off = await put(answer.body.id, body({ private: false, access_groups }));
      expect([off.status, off.body.access_groups]).toEqual([200, undefined]);
    }
    // The groups have no effect: the service does not become private. The groups of a private service are checked.
    const { body: answer } = await post(body({ access_groups: [made.users] }));
    expect(answer.private).toBe(false);
    const refused = await post(body({ private: true, access_groups: ['nobody'] }));
    expect([refused.status, problemsOf(refused)]).toEqual([422, ['reference_unknown /access_groups/0']]);
  });
});
