import { describe, expect, it } from 'vitest';
import { queryBuilder } from '../../src/db/builder.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { problemsOf } from './problems.ts';
import { addCluster, clusters, services } from './reverse-proxy-scene.ts';
import { testApi } from './setup.ts';

describe('documents of services', () => {
  const document = (kind: string, name: string, spec: string) =>
    `apiVersion: heddle.dev/v1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;
  const source = (text: string) => ({ source: 'git', files: [{ path: 'a.yaml', text }] });
  const counts = { create: 0, update: 0, delete: 0, claims: 0 };

  it('plan no change after they were applied, including the chosen port and the policy (E37)', async () => {
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

  it('delete a group together with the private service that names it', async () => {
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

  it('cannot change the mode, create a cluster, or contain a literal secret', async () => {
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
  it('are listed with the abilities that their proxies reported', async () => {
    await using api = await testApi();
    expect((await api.call('GET', clusters)).body).toEqual([]);
    const abilities = {
      supports_custom_ports: true,
      require_subdomain: false,
      supports_reputation: true,
      private: false,
    };
    const none = Object.fromEntries(Object.keys(abilities).map((name) => [name, false]));
    const own = await addCluster(api, 'proxy.example.com', abilities);
    const other = await addCluster(api, 'shared.example.com', { type: 'shared' });
    const state = { online: false, connected_proxies: 0 };
    expect((await api.call('GET', clusters)).body).toEqual([
      { id: own, address: 'proxy.example.com', type: 'account', ...abilities, ...state },
      { id: other, address: 'shared.example.com', type: 'shared', ...none, ...state },
    ]);
  });

  it('are deleted by their address, percent-encoded or not, if they belong to the account', async () => {
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

it('changes of services and clusters are recorded as audit events', async () => {
  await using api = await testApi();
  const { engine, account } = api;
  const [web = ''] = await api.peers('web');
  await addCluster(api, 'proxy.example.com');
  const given = {
    name: 'Db',
    domain: 'db.proxy.example.com',
    mode: 'tcp',
    enabled: true,
    targets: [
      {
        target_id: web,
        target_type: 'peer',
        protocol: 'http',
        port: 8080,
        enabled: true,
        options: { proxy_protocol: true, request_timeout: '30s' },
      },
    ],
  };
  const { body: made } = await api.call('POST', services, given);
  await api.call('PUT', `${services}/${made.id}`, { ...given, name: 'Database' });
  await api.call('DELETE', `${services}/${made.id}`);
  await api.call('DELETE', `${clusters}/proxy.example.com`);
  const query = queryBuilder.selectFrom('audit_events').selectAll().where('account_id', '=', account).orderBy('id');
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
