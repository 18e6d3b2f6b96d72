import type { JsonObject } from '../../src/lib/json.ts';
import type { BodyName, Refs } from './bodies.ts';

/** A case of a numbered constraint on request content. */
export interface Case {
  readonly constraint: number;
  readonly title: string;
  readonly in: BodyName;
  /** Members that replace those of the body; `null` removes one. */
  readonly change: (refs: Refs) => JsonObject;
  /** Member that the refusal names. Absent: the body is accepted. */
  readonly refused?: string;
}

/** Returns `rules` with one rule, whose members are replaced by `more`. */
const rule = ({ group }: Refs, more: JsonObject): JsonObject => ({
  rules: [
    {
      ...{ name: 'r', enabled: true, action: 'accept', bidirectional: false, protocol: 'tcp' },
      ...{ sources: [group], destinations: [group], ...more },
    },
  ],
});

/** Returns `targets` with one target that has the given options. */
const options = ({ peer }: Refs, protocol: string, given: JsonObject): JsonObject => ({
  targets: [{ target_id: peer, target_type: 'peer', protocol, port: 8080, enabled: true, options: given }],
});

const managed = ['Host', 'Connection', 'Transfer-Encoding', 'Keep-Alive', 'TE', 'Trailer', 'Upgrade', 'connection'];

export const constraints: readonly Case[] = [
  ...(['route', 'router'] as const).flatMap((kind): readonly Case[] => [
    {
      ...{ constraint: 1, title: `a ${kind} by a peer and by groups`, in: kind, refused: 'peer' },
      change: ({ group }) => ({ peer_groups: [group] }),
    },
    { constraint: 1, title: `a ${kind} by a peer`, in: kind, change: () => ({}) },
    {
      ...{ constraint: 1, title: `a ${kind} by groups`, in: kind },
      change: ({ group }) => ({ peer: null, peer_groups: [group] }),
    },
  ]),
  {
    ...{ constraint: 2, title: 'a route to a network and to domains', in: 'route', refused: 'network' },
    change: () => ({ network: '10.200.1.0/24' }),
  },
  {
    ...{ constraint: 2, title: 'a route to a network', in: 'route' },
    change: () => ({ network: '10.200.2.0/24', domains: null }),
  },
  { constraint: 2, title: 'a route to domains', in: 'route', change: () => ({}) },
  {
    ...{ constraint: 3, title: 'a rule with ports and ranges', in: 'policy', refused: 'ports' },
    change: (refs) => rule(refs, { ports: ['80'], port_ranges: [{ start: 443, end: 443 }] }),
  },
  { constraint: 3, title: 'a rule with ports', in: 'policy', change: (refs) => rule(refs, { ports: ['80'] }) },
  {
    ...{ constraint: 3, title: 'a rule with a port among its ranges', in: 'policy' },
    change: (refs) =>
      rule(refs, {
        port_ranges: [
          { start: 443, end: 443 },
          { start: 8000, end: 8080 },
        ],
      }),
  },
  {
    ...{ constraint: 4, title: 'a record of the domain of its zone', in: 'record' },
    change: () => ({ name: 'limits.example.com', type: 'A', content: '10.0.0.1' }),
  },
  {
    ...{ constraint: 4, title: 'a record deep below the domain of its zone', in: 'record' },
    change: ({ fresh }) => ({ name: `x.y.${fresh('z')}.limits.example.com` }),
  },
  ...['example.com', 'limits.example.org', 'nolimits.example.com'].map(
    (name): Case => ({
      ...{ constraint: 4, title: `a record of ${name} outside its zone`, in: 'record', refused: 'name' },
      change: () => ({ name }),
    }),
  ),
  {
    ...{ constraint: 5, title: 'a private service for groups', in: 'http' },
    change: ({ group }) => ({ private: true, access_groups: [group] }),
  },
  ...(['tcp', 'udp', 'tls'] as const).map(
    (mode): Case => ({
      ...{ constraint: 5, title: `a private service of mode ${mode}`, in: mode, refused: 'private' },
      change: ({ group }) => ({ private: true, access_groups: [group] }),
    }),
  ),
  {
    ...{ constraint: 5, title: 'a private service for nobody', in: 'http', refused: 'access_groups' },
    change: () => ({ private: true, access_groups: [] }),
  },
  {
    ...{ constraint: 5, title: 'a private service with bearer auth', in: 'http', refused: 'bearer_auth' },
    change: ({ group }) => ({
      ...{ private: true, access_groups: [group] },
      auth: { bearer_auth: { enabled: true, distribution_groups: [group] } },
    }),
  },
  {
    ...{ constraint: 5, title: 'a public service with access groups, which are ignored', in: 'http' },
    change: ({ group }) => ({ private: false, access_groups: [group] }),
  },
  ...managed.map(
    (header): Case => ({
      ...{ constraint: 6, title: `the header ${header}`, in: 'http', refused: header },
      change: (refs) => options(refs, 'http', { custom_headers: { [header]: 'x' } }),
    }),
  ),
  {
    ...{ constraint: 6, title: 'a header of no other meaning', in: 'http' },
    change: (refs) => options(refs, 'http', { custom_headers: { 'X-Team': 'mesh' } }),
  },
  ...(['http', 'udp', 'tcp', 'tls'] as const).map(
    (mode): Case => ({
      ...{ constraint: 7, title: `proxy_protocol with ${mode}`, in: mode },
      ...(mode === 'http' || mode === 'udp' ? { refused: 'proxy_protocol' } : {}),
      change: (refs) => options(refs, mode === 'tls' ? 'tcp' : mode, { proxy_protocol: true }),
    }),
  ),
  ...(['http', 'tcp', 'tls', 'udp'] as const).map(
    (mode): Case => ({
      ...{ constraint: 7, title: `session_idle_timeout with ${mode}`, in: mode },
      ...(mode === 'udp' ? {} : { refused: 'session_idle_timeout' }),
      change: (refs) => options(refs, mode === 'tls' ? 'tcp' : mode, { session_idle_timeout: '30s' }),
    }),
  ),
  ...['proxy', 'plain'].flatMap((cluster) =>
    ['off', 'observe', 'enforce'].map(
      (reputation_mode): Case => ({
        ...{ constraint: 8, title: `the reputation mode ${reputation_mode} at the cluster ${cluster}`, in: 'http' },
        ...(cluster === 'plain' && reputation_mode !== 'off' ? { refused: 'reputation_mode' } : {}),
        change: ({ fresh }) => ({
          domain: `${fresh('rep')}.${cluster}.example.com`,
          access_restrictions: { reputation_mode },
        }),
      }),
    ),
  ),
];
