import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { productRegistry } from '../../src/app.ts';
import { openDatabase } from '../../src/db/database.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { testDatabase } from '../setup/database.ts';
import { addCluster } from '../spec/world.ts';
import { type Answer, apiOn, type TestApi } from './setup.ts';

const clients = 50;

/** Two servers of one hosted account. Half of the clients call each. */
let servers: readonly TestApi[] = [];
let ids: Readonly<Record<'group' | 'peer' | 'zone' | 'network', string>>;
const one = () => servers[0] as TestApi;

beforeAll(async () => {
  const made = await testDatabase('postgres');
  const first = await apiOn(made.database, () => made[Symbol.asyncDispose](), { edition: 'hosted' });
  const other = await openDatabase({ url: made.url ?? '' });
  const { vault } = first.engine.planEnvironment;
  servers = [first, await apiOn(other, () => other.close(), { edition: 'hosted', vault })];
  const [peer = ''] = await first.peers('shared');
  const group = await first.group('shared', [peer]);
  const zone = { name: 'z', domain: 'race.example.com', enable_search_domain: false, distribution_groups: [group] };
  ids = {
    ...{ group, peer },
    zone: (await first.call('POST', '/api/dns/zones', zone)).body.id,
    network: (await first.call('POST', '/api/networks', { name: 'office' })).body.id,
  };
});

afterAll(async () => {
  for (const server of [...servers].reverse()) await server[Symbol.asyncDispose]();
});

/** Sends one request per client concurrently. Returns the answers, and their number by status. */
async function race(request: (client: number) => readonly [string, string, JsonObject?]) {
  const answers: Answer[] = await Promise.all(
    Array.from({ length: clients }, (_, client) => {
      const [method, path, body] = request(client);
      return (servers[client % servers.length] as TestApi).call(method, path, body);
    }),
  );
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return { counts, answers };
}

const oneWinner = { 200: 1, 409: clients - 1 };

interface Rule {
  /** The uniqueness rule to test, as `Kind rule`. */
  readonly rule: string;
  readonly path: () => string;
  readonly body: (client: number) => JsonObject;
}

const edr: JsonObject = { enabled: true, last_synced_interval: 24 };
const service = (more: JsonObject): JsonObject => ({ name: 'app', enabled: true, ...more });

const rules: readonly Rule[] = [
  { rule: 'Group name', path: () => '/api/groups', body: () => ({ name: 'taken' }) },
  { rule: 'PostureCheck name', path: () => '/api/posture-checks', body: () => ({ name: 'taken', description: '' }) },
  {
    rule: 'DNSZone domain',
    path: () => '/api/dns/zones',
    body: (client) => ({
      ...{ name: `z${client}`, domain: client % 3 === 0 ? 'TAKEN.example.com' : 'taken.example.com' },
      ...{ enable_search_domain: false, distribution_groups: [ids.group] },
    }),
  },
  {
    rule: 'DNSRecord record',
    path: () => `/api/dns/zones/${ids.zone}/records`,
    body: (client) => ({ name: 'a.race.example.com', type: 'A', content: '10.0.0.1', ttl: client }),
  },
  {
    rule: 'NetworkResource name',
    path: () => `/api/networks/${ids.network}/resources`,
    body: (client) => ({ name: 'taken', address: `10.1.2.${client}`, enabled: true, groups: [] }),
  },
  {
    rule: 'User email',
    path: () => '/api/users',
    body: (client) => ({
      ...{ email: client % 2 === 0 ? 'ana@example.com' : 'Ana@Example.com', name: `Ana ${client}` },
      ...{ role: 'user', auto_groups: [], is_service_user: false },
    }),
  },
  {
    rule: 'NameserverGroup name',
    path: () => '/api/dns/nameservers',
    body: () => ({
      ...{ name: 'taken', description: '', nameservers: [{ ip: '9.9.9.9', ns_type: 'udp', port: 53 }] },
      ...{ enabled: true, groups: [ids.group], primary: true, domains: [], search_domains_enabled: false },
    }),
  },
  {
    rule: 'IngressPeer peer',
    path: () => '/api/ingress/peers',
    body: () => ({ peer_id: ids.peer, enabled: true, fallback: true }),
  },
  {
    rule: 'MSPTenant domain',
    path: () => '/api/integrations/msp/tenants',
    body: (client) => ({ name: `Acme ${client}`, domain: 'acme.example.com', groups: [] }),
  },
  {
    rule: 'ProxyService domain',
    path: () => '/api/reverse-proxies/services',
    body: (client) => service({ name: `app ${client}`, domain: 'taken.example.net' }),
  },
  {
    rule: 'ProxyDomain domain',
    path: () => '/api/reverse-proxies/domains',
    body: (client) => ({
      ...{
        domain: client % 2 === 0 ? 'proved.example.net' : 'Proved.example.net',
        target_cluster: 'proxy.example.com',
      },
    }),
  },
  {
    rule: 'EdrVendorA single',
    path: () => '/api/integrations/edr/vendor-a',
    body: () => ({
      ...edr,
      groups: [ids.group],
      api_token: 't',
      api_url: 'https://a.example.com',
      match_attributes: {},
    }),
  },
  {
    rule: 'EdrVendorB single',
    path: () => '/api/integrations/edr/vendor-b',
    body: () => ({ ...edr, groups: [ids.group], client_id: 'c', tenant_id: 't', secret: 's' }),
  },
  {
    rule: 'EdrVendorC single',
    path: () => '/api/integrations/edr/vendor-c',
    body: () => ({
      ...edr,
      groups: [ids.group],
      api_token: 't',
      api_url: 'https://c.example.com',
      match_attributes: {},
    }),
  },
  {
    rule: 'EdrVendorD single',
    path: () => '/api/integrations/edr/vendor-d',
    body: () => ({ groups: [ids.group], client_id: 'c', secret: 's', cloud_id: 'eu-1', zta_score_threshold: 1 }),
  },
];

describe('of 50 concurrent clients that create the same object, one succeeds', () => {
  it.each(rules)('$rule', async ({ path, body }) => {
    const { counts, answers } = await race((client) => ['POST', path(), body(client)]);
    expect(counts).toEqual(oneWinner);
    for (const { status, body: refusal } of answers)
      if (status === 409) expect(refusal.message).toContain('already exists');
  });

  it('Peer ip, ipv6: peers that request the same address', async () => {
    const [{ id, settings }] = (await one().call('GET', '/api/accounts')).body;
    const [all] = (await one().call('GET', '/api/groups?name=All')).body;
    const more = { network_range: '100.90.0.0/16', ipv6_enabled_groups: [all.id] };
    expect((await one().call('PUT', `/api/accounts/${id}`, { settings: { ...settings, ...more } })).status).toBe(200);
    const racing = await one().peers(...Array.from({ length: clients }, (_, client) => `racer-${client}`));
    const flags = { ssh_enabled: false, login_expiration_enabled: false, inactivity_expiration_enabled: false };
    const v6 = String(settings.network_range_v6).replace('::/64', '::7:7');
    for (const address of [{ ip: '100.90.7.7' }, { ipv6: v6 }]) {
      const { counts } = await race((client) => [
        'PUT',
        `/api/peers/${racing[client]}`,
        { name: `r${client}`, ...flags, ...address },
      ]);
      expect(counts).toEqual(oneWinner);
    }
  });

  it('Peer dns_label: peers with the same name get different labels', async () => {
    const racing = await one().peers(...Array.from({ length: clients }, (_, client) => `namesake-${client}`));
    const flags = { ssh_enabled: false, login_expiration_enabled: false, inactivity_expiration_enabled: false };
    const { counts, answers } = await race((client) => [
      'PUT',
      `/api/peers/${racing[client]}`,
      { name: 'Same', ...flags },
    ]);
    expect(counts).toEqual({ 200: clients });
    expect(new Set(answers.map(({ body }) => body.dns_label)).size).toBe(clients);
  });

  it('IngressPort name: and the assigned ports do not overlap', async () => {
    const path = `/api/peers/${ids.peer}/ingress/ports`;
    const asked = { enabled: true, direct_port: { count: 3, protocol: 'tcp' } };
    expect((await race(() => ['POST', path, { name: 'taken', ...asked }])).counts).toEqual(oneWinner);
    const { counts, answers } = await race((client) => ['POST', path, { name: `port ${client}`, ...asked }]);
    expect(counts).toEqual({ 200: clients });
    const starts = answers.map(({ body }) => Number(body.port_range_mappings[0].ingress_start)).sort((a, b) => a - b);
    for (const [at, start] of starts.entries())
      if (at > 0) expect(start - (starts[at - 1] ?? 0)).toBeGreaterThanOrEqual(3);
  });

  it('a port of a cluster: services that request the same one, and services that accept any', async () => {
    await addCluster(one(), 'proxy.example.com', { supports_custom_ports: true });
    const path = '/api/reverse-proxies/services';
    const tcp = (name: string, listen_port: number): JsonObject => ({
      ...{ name, domain: `${name}.proxy.example.com`, mode: 'tcp', listen_port, enabled: true },
    });
    const { counts } = await race((client) => ['POST', path, tcp(`fixed${client}`, 5432)]);
    expect(counts).toEqual(oneWinner);
    const free = await race((client) => ['POST', path, tcp(`any${client}`, 0)]);
    expect(free.counts).toEqual({ 200: clients });
    expect(new Set(free.answers.map(({ body }) => body.listen_port)).size).toBe(clients);
  });

  it('a route to a range: routes of the same groups overlap', async () => {
    const body: JsonObject = {
      ...{ description: '', network_id: 'race', enabled: true, peer_groups: [ids.group], network: '10.66.0.0/24' },
      ...{ metric: 1, masquerade: true, groups: [ids.group], keep_route: false },
    };
    expect((await race(() => ['POST', '/api/routes', body])).counts).toEqual(oneWinner);
  });

  it('a name that existing groups request: one renamed group gets it', async () => {
    const groups = await Promise.all(Array.from({ length: clients }, (_, client) => one().group(`before ${client}`)));
    const { counts } = await race((client) => ['PUT', `/api/groups/${groups[client]}`, { name: 'wanted' }]);
    expect(counts).toEqual(oneWinner);
    expect((await one().call('GET', '/api/groups?name=wanted')).body.length).toBe(1);
  });
});

it('50 setup keys created at once all get different ids', async () => {
  const key = { name: 'k', type: 'reusable', expires_in: 86400, auto_groups: [], usage_limit: 0 };
  const { counts, answers } = await race(() => ['POST', '/api/setup-keys', key]);
  expect(counts).toEqual({ 200: clients });
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(clients);
});

it('every uniqueness rule of the registry is tested or listed as tested elsewhere', () => {
  // Agents and proxies report these values when they enrol.
  const reported = ['ProxyCluster own_address', 'ProxyPeer wg_pub_key', 'Peer wg_pub_key', 'Peer signing_key'];
  const elsewhere = ['Peer ip', 'Peer ipv6', 'Peer dns_label', 'ProxyPeer ip', 'IngressPort name'];
  const known = productRegistry().kinds.flatMap((kind) => [
    ...Object.keys(kind.uniques).map((name) => `${kind.name} ${name}`),
    ...(kind.single === true && kind.verbs.includes('create') ? [`${kind.name} single`] : []),
  ]);
  expect([...rules.map(({ rule }) => rule), ...elsewhere, ...reported].sort()).toEqual([...known].sort());
});
