import type { Json, JsonObject } from '../../src/lib/json.ts';

/** Objects that bodies refer to: by id in requests, by name in documents. */
export interface Refs {
  readonly group: string;
  readonly peer: string;
  readonly zone: string;
  readonly network: string;
  /** Returns a name that no other object has. */
  fresh(name: string): string;
  /** Returns a secret, in the form that the request or document requires. */
  secret(): Json;
}

/** An object that can be created by a request and declared by a document. */
export interface Body {
  /** Path of the request that creates it. `{zone}`, `{network}` and `{peer}` are replaced by the ids from `Refs`. */
  readonly path: string;
  /** Kind of the document. */
  readonly kind: string;
  /** Member by which a document names the parent that is part of the path. */
  readonly parent?: 'zone' | 'network' | 'peer';
  /** True when there can only be one: the existing object is deleted before another is created. */
  readonly single?: boolean;
  readonly body: (refs: Refs) => JsonObject;
}

const service = (mode: string, more: JsonObject = {}): Body => ({
  path: '/api/reverse-proxies/services',
  kind: 'ProxyService',
  body: ({ fresh, peer }) => ({
    name: fresh('Service'),
    domain: `${fresh('app')}.proxy.example.com`,
    mode,
    targets: [
      {
        ...{ target_id: peer, target_type: 'peer', protocol: mode === 'tls' ? 'tcp' : mode, port: 8080, enabled: true },
        options: {},
      },
    ],
    enabled: true,
    ...more,
  }),
});

const edr = (vendor: string, own: (refs: Refs) => JsonObject): Body => ({
  path: `/api/integrations/edr/vendor-${vendor}`,
  kind: `EdrVendor${vendor.toUpperCase()}`,
  single: true,
  body: (refs) => ({ groups: [refs.group], enabled: true, ...own(refs) }),
});

/** Valid bodies, written by hand. */
export const bodies = {
  route: {
    path: '/api/routes',
    kind: 'Route',
    body: ({ fresh, peer, group }) => ({
      description: '',
      network_id: fresh('net'),
      enabled: true,
      peer,
      domains: [`${fresh('app')}.example.com`],
      metric: 100,
      masquerade: true,
      groups: [group],
      keep_route: false,
    }),
  },
  router: {
    path: '/api/networks/{network}/routers',
    kind: 'NetworkRouter',
    parent: 'network',
    body: ({ peer }) => ({ peer, metric: 100, masquerade: true, enabled: true }),
  },
  policy: {
    path: '/api/policies',
    kind: 'Policy',
    body: ({ fresh, group }) => ({
      name: fresh('Policy'),
      enabled: true,
      rules: [
        {
          ...{ name: 'r', enabled: true, action: 'accept', bidirectional: false, protocol: 'tcp' },
          ...{ sources: [group], destinations: [group] },
        },
      ],
    }),
  },
  zone: {
    path: '/api/dns/zones',
    kind: 'DNSZone',
    body: ({ fresh, group }) => ({
      name: fresh('Zone'),
      domain: `${fresh('zone')}.example.com`,
      enable_search_domain: false,
      distribution_groups: [group],
    }),
  },
  record: {
    path: '/api/dns/zones/{zone}/records',
    kind: 'DNSRecord',
    parent: 'zone',
    body: ({ fresh }) => ({
      name: `${fresh('a')}.limits.example.com`,
      type: 'CNAME',
      content: 'b.example.org',
      ttl: 300,
    }),
  },
  setupKey: {
    path: '/api/setup-keys',
    kind: 'SetupKey',
    body: ({ fresh, group }) => ({
      ...{ name: fresh('Key'), type: 'reusable', expires_in: 86400, auto_groups: [group], usage_limit: 1 },
    }),
  },
  http: service('http'),
  tcp: service('tcp'),
  udp: service('udp'),
  tls: service('tls'),
  edrA: edr('a', ({ secret }) => ({
    ...{ api_token: secret(), api_url: 'https://a.example.com', last_synced_interval: 24, match_attributes: {} },
  })),
  edrB: edr('b', ({ secret }) => ({ client_id: 'c', tenant_id: 't', secret: secret(), last_synced_interval: 24 })),
  edrC: edr('c', ({ secret }) => ({
    ...{ api_token: secret(), api_url: 'https://c.example.com', last_synced_interval: 24, match_attributes: {} },
  })),
  edrD: edr('d', ({ secret }) => ({
    client_id: secret(),
    secret: secret(),
    cloud_id: 'eu-1',
    zta_score_threshold: 70,
  })),
  directory: {
    path: '/api/integrations/directory-idp',
    kind: 'DirectoryIntegration',
    body: ({ fresh, secret }) => ({
      ...{ client_secret: secret(), client_id: fresh('client'), tenant_id: fresh('tenant'), host: 'd.example.com' },
    }),
  },
  ingressPort: {
    path: '/api/peers/{peer}/ingress/ports',
    kind: 'IngressPort',
    parent: 'peer',
    body: ({ fresh }) => ({ name: fresh('port'), enabled: true, direct_port: { count: 1, protocol: 'tcp' } }),
  },
  ingressPeer: {
    path: '/api/ingress/peers',
    kind: 'IngressPeer',
    body: ({ peer }) => ({ peer_id: peer, enabled: true, fallback: true }),
  },
} as const satisfies Readonly<Record<string, Body>>;

export type BodyName = keyof typeof bodies;
