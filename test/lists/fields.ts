import type { Json, JsonObject } from '../../src/lib/json.ts';
import { authority, secondAuthority } from '../setup/certificates.ts';

/** Objects that the request bodies of a table refer to: four ids of each kind, in the order of their creation. */
export interface Things {
  readonly account: string;
  readonly groups: readonly string[];
  readonly peers: readonly string[];
  readonly checks: readonly string[];
  readonly resources: readonly string[];
  readonly network: string;
  readonly zone: string;
  readonly user: string;
  readonly tenant: string;
  /** Settings of the account, as a response contains them. */
  readonly settings: JsonObject;
  /** Returns a name that no other object has. */
  fresh(name: string): string;
}

/** A list field of a kind, and how requests write it. */
export interface ListField {
  /** Kind and path of the field, with `[]` for entries of lists. */
  readonly name: string;
  /**
   * Path that creates the object with POST; the object is replaced under its id. With `put`, the object already exists
   * at this path.
   */
  readonly path: (things: Things) => string;
  readonly put?: true;
  readonly verb?: 'single';
  /** Elements that the list may contain: four values, or fewer where a rule limits the list. */
  readonly values: (things: Things) => readonly Json[];
  readonly body: (list: readonly Json[], things: Things) => JsonObject;
  /** Path to the list in the response. */
  readonly at: readonly (string | number)[];
}

const groups = ({ groups: ids }: Things): readonly Json[] => ids;
const given =
  (...values: readonly Json[]) =>
  (): readonly Json[] =>
    values;
const ranges = given('10.9.0.0/16', '192.0.2.0/24', '10.10.0.0/16', '2001:db8::/32');
const countries = given('FR', 'CH', 'DE', 'AT');

const settings = (member: string, values: ListField['values'] = groups): ListField => ({
  name: `Account settings.${member}`,
  path: ({ account }) => `/api/accounts/${account}`,
  ...{ put: true, values },
  body: (list, things) => ({ settings: { ...things.settings, [member]: list } }),
  at: ['settings', member],
});

const edr = (vendor: string, own: JsonObject): ListField => ({
  name: `EdrVendor${vendor.toUpperCase()} groups`,
  path: () => `/api/integrations/edr/vendor-${vendor}`,
  ...{ verb: 'single', values: groups, at: ['groups'] },
  body: (list) => ({ groups: list, enabled: true, ...own }),
});

const directory = (member: string): ListField => ({
  name: `DirectoryIntegration ${member}`,
  path: () => '/api/integrations/directory-idp',
  values: given('mesh-', 'a-', 'team ', 'B'),
  body: (list, { fresh }) => ({
    ...{ client_secret: 'c2VjcmV0', client_id: fresh('client'), tenant_id: fresh('tenant'), host: 'd.example.com' },
    [member]: list,
  }),
  at: [member],
});

const scim = (member: string): ListField => ({
  name: `ScimIntegration ${member}`,
  path: () => '/api/integrations/scim-idp',
  values: given('mesh-', 'a-', 'team ', 'B'),
  body: (list, { fresh }) => ({ prefix: fresh('staff'), provider: 'generic', [member]: list }),
  at: [member],
});

const route = (member: string, values: ListField['values'], body: (things: Things) => JsonObject): ListField => ({
  name: `Route ${member}`,
  path: () => '/api/routes',
  values,
  body: (list, things) => ({
    ...{ description: '', network_id: things.fresh('net'), enabled: true, metric: 100, masquerade: true },
    ...{ groups: [things.groups[0] ?? ''], keep_route: false, ...body(things), [member]: list },
  }),
  at: [member],
});
const network = ({ fresh }: Things) => `10.${Number(fresh('x').split('-')[1]) % 250}.0.0/24`;

const rule = (member: string, values: ListField['values'], more: JsonObject = {}): ListField => ({
  name: `Policy rules[].${member}`,
  path: () => '/api/policies',
  values,
  body: (list, things) => ({
    ...{ name: things.fresh('Policy'), enabled: true },
    rules: [ruleBody('zero', things), { ...ruleBody('main', things), ...more, [member]: list }],
  }),
  at: ['rules', 1, member],
});

function ruleBody(name: string, { groups: [group = ''] }: Things): JsonObject {
  return {
    ...{ name, enabled: true, action: 'accept', bidirectional: false, protocol: 'tcp' },
    ...{ sources: [group], destinations: [group] },
  };
}

const posture = (check: string, member: string, values: ListField['values'], more: JsonObject): ListField => ({
  name: `PostureCheck checks.${check}.${member}`,
  path: () => '/api/posture-checks',
  values,
  body: (list, { fresh }) => ({
    name: fresh('Check'),
    description: '',
    checks: { [check]: { ...more, [member]: list } },
  }),
  at: ['checks', check, member],
});

const service = (member: string, values: ListField['values'], body: (list: readonly Json[]) => JsonObject) => ({
  name: `ProxyService ${member}`,
  path: () => '/api/reverse-proxies/services',
  values,
  body: (list: readonly Json[], { fresh }: Things) => ({
    ...{ name: fresh('Service'), domain: `${fresh('app')}.proxy.example.com`, enabled: true },
    ...body(list),
  }),
  at: member.split('.'),
});

const channel = (member: string, values: ListField['values'], more: (list: readonly Json[]) => JsonObject) => ({
  name: `NotificationChannel ${member}`,
  path: () => '/api/integrations/notifications/channels',
  values,
  body: (list: readonly Json[]) => ({
    ...{ type: 'email', target: { emails: ['a@example.com'] }, event_types: ['user.join'], enabled: true },
    ...more(list),
  }),
  at: member.split('.'),
});

const nameservers = (member: string, values: ListField['values']): ListField => ({
  name: `NameserverGroup ${member}`,
  path: () => '/api/dns/nameservers',
  values,
  body: (list, { fresh, groups: [group = ''] }) => ({
    ...{ name: fresh('ns'), nameservers: [{ ip: '10.20.0.53', ns_type: 'udp', port: 53 }], enabled: true },
    ...{ groups: [group], domains: ['a.example.com'], [member]: list },
  }),
  at: [member],
});

/** Every list field that requests can write. */
export const listFields: readonly ListField[] = [
  settings('jwt_allow_groups', given('staff', 'ops', 'Admins', 'zz')),
  settings('ipv6_enabled_groups'),
  settings('peer_expose_groups'),
  {
    ...settings('extra.network_traffic_logs_groups'),
    body: (list, things) => ({
      settings: {
        ...things.settings,
        extra: { ...(things.settings['extra'] as JsonObject), network_traffic_logs_groups: list },
      },
    }),
    at: ['settings', 'extra', 'network_traffic_logs_groups'],
  },
  {
    name: 'DNSSettings disabled_management_groups',
    path: () => '/api/dns/settings',
    ...{ put: true, values: groups, at: ['disabled_management_groups'] },
    body: (list) => ({ disabled_management_groups: list }),
  },
  {
    name: 'DNSZone distribution_groups',
    path: () => '/api/dns/zones',
    ...{ values: groups, at: ['distribution_groups'] },
    body: (list, { fresh }) => ({
      ...{ name: fresh('Zone'), domain: `${fresh('zone')}.example.com`, enable_search_domain: false },
      distribution_groups: list,
    }),
  },
  directory('group_prefixes'),
  directory('user_group_prefixes'),
  scim('group_prefixes'),
  scim('user_group_prefixes'),
  edr('a', {
    ...{ api_token: 's', api_url: 'https://a.example.com', last_synced_interval: 24, match_attributes: {} },
  }),
  edr('b', { client_id: 'c', tenant_id: 't', secret: 's', last_synced_interval: 24 }),
  edr('c', {
    ...{ api_token: 's', api_url: 'https://c.example.com', last_synced_interval: 24, match_attributes: {} },
  }),
  {
    ...edr('c', {}),
    name: 'EdrVendorC match_attributes.required_policies',
    values: given(10, 9, 100, 1),
    body: (list, { groups: [group = ''] }) => ({
      ...{ groups: [group], enabled: true, api_token: 's', api_url: 'https://c.example.com' },
      ...{ last_synced_interval: 24, match_attributes: { required_policies: list } },
    }),
    at: ['match_attributes', 'required_policies'],
  },
  edr('d', { client_id: 'c', secret: 's', cloud_id: 'eu-1', zta_score_threshold: 70 }),
  {
    name: 'Group peers',
    path: () => '/api/groups',
    ...{ values: ({ peers }) => peers, at: ['peers'] },
    body: (list, { fresh }) => ({ name: fresh('Group'), peers: list }),
  },
  {
    name: 'Group resources',
    path: () => '/api/groups',
    values: ({ resources }) => resources.map((id) => ({ id, type: 'subnet' })),
    body: (list, { fresh }) => ({ name: fresh('Group'), resources: list }),
    at: ['resources'],
  },
  {
    name: 'IngressPort port_ranges',
    path: ({ peers: [peer = ''] }) => `/api/peers/${peer}/ingress/ports`,
    values: given(
      { start: 80, end: 81, protocol: 'tcp' },
      { start: 22, end: 22, protocol: 'tcp' },
      { start: 443, end: 443, protocol: 'udp' },
    ),
    body: (list, { fresh }) => ({ name: fresh('port'), enabled: true, port_ranges: list }),
    at: ['port_range_mappings'],
  },
  {
    name: 'MSPTenant groups',
    path: ({ tenant }) => `/api/integrations/msp/tenants/${tenant}`,
    put: true,
    values: ({ groups: ids }) => ids.map((id) => ({ id, role: 'admin' })),
    body: (list) => ({ name: 'Tenant', groups: list }),
    at: ['groups'],
  },
  nameservers(
    'nameservers',
    given(...['10.0.0.9', '10.0.0.1', '10.0.0.5'].map((ip) => ({ ip, ns_type: 'udp', port: 53 }))),
  ),
  nameservers('groups', groups),
  nameservers('domains', given('b.example.com', 'a.example.com', 'x.y.example.com', 'c.example.com')),
  {
    name: 'NetworkResource groups',
    path: ({ network: id }) => `/api/networks/${id}/resources`,
    ...{ values: groups, at: ['groups'] },
    body: (list, things) => ({ name: things.fresh('Resource'), address: network(things), enabled: true, groups: list }),
  },
  {
    name: 'NetworkRouter peer_groups',
    path: ({ network: id }) => `/api/networks/${id}/routers`,
    ...{ values: groups, at: ['peer_groups'] },
    body: (list) => ({ peer_groups: list, metric: 100, masquerade: true, enabled: true }),
  },
  channel('target.emails', given('b@example.com', 'a@example.com', 'c@example.com', 'aa@example.com'), (emails) => ({
    target: { emails },
  })),
  channel('event_types', given('user.join', 'group.add', 'peer.user.add', 'policy.add'), (event_types) => ({
    event_types,
  })),
  {
    name: 'Policy source_posture_checks',
    path: () => '/api/policies',
    ...{ values: ({ checks }) => checks, at: ['source_posture_checks'] },
    body: (list, things) => ({
      ...{ name: things.fresh('Policy'), enabled: true, source_posture_checks: list },
      rules: [ruleBody('main', things)],
    }),
  },
  {
    name: 'Policy rules',
    path: () => '/api/policies',
    values: (things) => ['web', 'db', 'admin', 'Zeta'].map((name) => ruleBody(name, things)),
    body: (list, { fresh }) => ({ name: fresh('Policy'), enabled: true, rules: list }),
    at: ['rules'],
  },
  rule('ports', given('443', '80', '8080', '22')),
  rule('port_ranges', given(...[443, 80, 8080, 22].map((start) => ({ start, end: start + 1 })))),
  rule('sources', groups),
  rule('destinations', groups),
  posture('geo_location_check', 'locations', given(...['FR', 'CH', 'DE'].map((country_code) => ({ country_code }))), {
    action: 'allow',
  }),
  posture('peer_network_range_check', 'ranges', ranges, { action: 'allow' }),
  posture(
    'process_check',
    'processes',
    given(...['/usr/bin/z', '/usr/bin/a', '/bin/m'].map((linux_path) => ({ linux_path }))),
    {},
  ),
  posture('certificate_check', 'ca_certificates', given(secondAuthority, authority), {}),
  {
    ...service(
      'targets',
      ({ peers }) => peers,
      (targets) => ({ targets }),
    ),
    body: (list, { fresh }) => ({
      ...{ name: fresh('Service'), domain: `${fresh('app')}.proxy.example.com`, enabled: true },
      targets: list.map((target_id) => ({
        ...{ target_id, target_type: 'peer', protocol: 'http', port: 80, enabled: true },
      })),
    }),
  },
  service('auth.bearer_auth.distribution_groups', groups, (distribution_groups) => ({
    auth: { bearer_auth: { enabled: true, distribution_groups } },
  })),
  service(
    'auth.header_auths',
    given(...['X-B', 'X-A', 'Authorization'].map((header) => ({ header, enabled: true, value: 's3cret' }))),
    (header_auths) => ({ auth: { header_auths } }),
  ),
  ...(['allowed_cidrs', 'blocked_cidrs'] as const).map((member) =>
    service(`access_restrictions.${member}`, ranges, (list) => ({ access_restrictions: { [member]: list } })),
  ),
  ...(['allowed_countries', 'blocked_countries'] as const).map((member) =>
    service(`access_restrictions.${member}`, countries, (list) => ({ access_restrictions: { [member]: list } })),
  ),
  service('access_groups', groups, (access_groups) => ({ private: true, access_groups })),
  route('peer_groups', groups, (things) => ({ network: network(things) })),
  route('domains', given('b.example.com', 'a.example.com', '*.c.example.com'), ({ peers: [peer = ''] }) => ({ peer })),
  route('groups', groups, (things) => ({ network: network(things), peer: things.peers[1] ?? '' })),
  route('access_control_groups', groups, (things) => ({ network: network(things), peer: things.peers[2] ?? '' })),
  {
    name: 'SetupKey auto_groups',
    path: () => '/api/setup-keys',
    ...{ values: groups, at: ['auto_groups'] },
    body: (list, { fresh }) => ({
      ...{ name: fresh('Key'), type: 'reusable', expires_in: 86400, auto_groups: list, usage_limit: 1, revoked: false },
    }),
  },
  {
    name: 'User auto_groups',
    path: ({ user }) => `/api/users/${user}`,
    ...{ put: true, values: groups, at: ['auto_groups'] },
    body: (list) => ({ role: 'user', is_blocked: false, auto_groups: list }),
  },
];
