/**
 * Reads stored objects for access. Only this file knows the names of kinds and their fields here. Each object is read
 * once, and cached for as long as it lives.
 */

import { type Interval, mergeIntervals } from '../../lib/bits/intervals.ts';
import type { protocols, ruleActions } from '../../model/declare/access-words.ts';
import { entryIdsOf, keyedEntries } from '../../model/schema/entries.ts';
import { mappingsOf, type PortMapping } from '../../model/state/ingress-ports.ts';
import { membersIn } from '../../model/state/members.ts';
import { derivedFromId, type StoredObject } from '../../model/state/object.ts';
import type { Stored } from '../../model/state/stored.ts';
import { cachedReader, typeReader } from './cached-readers.ts';
import type { Checks } from './posture.ts';

/** Kinds that access depends on, by part. */
export const kindOf = {
  peer: 'Peer',
  proxy: 'ProxyPeer',
  group: 'Group',
  policy: 'Policy',
  posture: 'PostureCheck',
  network: 'Network',
  resource: 'NetworkResource',
  router: 'NetworkRouter',
  route: 'Route',
  ingressPeer: 'IngressPeer',
  ingressPort: 'IngressPort',
} as const;

export type AccessObjectType = keyof typeof kindOf;

/** Returns which part of access an object is, or `undefined` when access does not depend on its kind. */
export const accessTypeOf = typeReader(kindOf);

/**
 * Fields other than those of rules that name groups (`resource`, `guarded`), and the field that lists a group's
 * members.
 */
export const groupFields = { resource: 'groups', guarded: 'access_control_groups', member: 'peers' } as const;

/** Properties of a peer that matter for access. */
export interface Peer {
  readonly approved: boolean;
  /** True for a peer that exists to reach one other peer. Groups grant it nothing. */
  readonly temporary: boolean;
}

export const readPeer = cachedReader(kindOf.peer, ({ spec, derived }): Peer => {
  return { approved: spec.approval_required !== true, temporary: derived.temporary === true };
});

/** Members of a group: the listed peers, or all peers. For the group of a cluster's proxies, these proxies. */
export interface Group {
  readonly all: boolean;
  readonly peers: readonly string[];
  readonly proxies: readonly string[];
  /** Whether the group contains a peer. Does not iterate over the peers. */
  hasPeer(peer: string): boolean;
}

export const readGroup = cachedReader(kindOf.group, (group): Group => {
  const { system, proxies = [] } = group.derived;
  const all = system === 'all';
  const members = membersIn(group, groupFields.member);
  return { all, peers: members.keys(), proxies, hasPeer: (peer) => all || members.get(peer) !== undefined };
});

/** Endpoint-security integration, as far as its product decides about peers. */
interface Validator {
  /** Ids of the groups whose peers it decides about. Empty when it is disabled. */
  readonly groups: readonly string[];
}

/** Reads an integration of any endpoint-security kind: all of them have these fields. */
export const readValidator = cachedReader('EdrVendorA', ({ spec }): Validator => {
  return { groups: spec.enabled === true ? (spec.groups ?? []) : [] };
});

/** Reads the checks of a posture check. */
export const readChecks = cachedReader(kindOf.posture, ({ spec }): Checks => {
  // Stored specs are canonical, so the checks have the shape that their fields declare.
  return (spec.checks ?? {}) as Checks;
});

export type Protocol = (typeof protocols)[number];

export type RuleAction = (typeof ruleActions)[number];

/** One side of a rule: the members of groups, or one object. */
export interface RuleSide {
  readonly groups: readonly string[];
  readonly one?: string;
}

/** Rule of a policy, as access reads it. */
export interface Rule {
  readonly id: string;
  /** Unique within the policy, even where rule names repeat. */
  readonly key: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly action: RuleAction;
  readonly bidirectional: boolean;
  readonly protocol: Protocol;
  /** Empty: all ports. */
  readonly ports: readonly Interval[];
  /** For `ssh`: the local users that the users of each group may log in as, by group id. None given: any. */
  readonly authorized: Readonly<Record<string, readonly string[]>>;
  readonly sources: RuleSide;
  readonly destinations: RuleSide;
}

/** Ports of a peer that are reachable from outside the mesh through another peer. */
export interface Ingress {
  /** Ids of the peer that forwards the ports, and of the peer whose ports they are (`target`). */
  readonly gateway: string;
  readonly target: string;
  readonly mappings: readonly PortMapping[];
  /** Id of the peer that forwards them when it is online. Absent when that is `gateway`. */
  readonly standsInFor?: string;
}

/** Policy with its rules, as access reads it. Ingress ports have this form too. */
export interface Policy {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly postures: readonly string[];
  readonly rules: readonly Rule[];
  /** Forwarding of the ports. Present when the policy represents an ingress port. */
  readonly ingress?: Ingress;
  /** Id of the object that the policy is derived from, such as a private service. */
  readonly origin?: string;
  /** Positions of its declarations. */
  readonly declared: readonly { readonly source: string; readonly file: string; readonly line: number }[];
}

export const readPolicy = cachedReader(kindOf.policy, (object): Policy => {
  const { id, name, spec } = object;
  const ids = entryIdsOf(object)['rules'] ?? {};
  const rules = keyedEntries('name', spec.rules ?? []);
  const origin = derivedFromId(object);
  return {
    id,
    name,
    enabled: spec.enabled === true,
    postures: spec.source_posture_checks ?? [],
    rules: rules.map(([key, rule]) => readRule(ids[key] ?? id, key, rule)),
    ...(origin === undefined ? {} : { origin }),
    declared: declarationPositionsOf(object),
  };
});

function declarationPositionsOf({ declared }: StoredObject): Policy['declared'] {
  return declared.map(({ source, file, line }) => ({ source, file, line }));
}

type StoredRule = NonNullable<Stored<'Policy'>['spec']['rules']>[number];

function readRule(id: string, key: string, rule: StoredRule): Rule {
  const single = (rule.ports ?? []).map((port) => ({ start: Number(port), end: Number(port) }));
  const ranges = (rule.port_ranges ?? []).map(({ start, end }) => ({ start: Number(start), end: Number(end) }));
  return {
    id,
    key,
    name: rule.name ?? '',
    enabled: rule.enabled === true,
    action: rule.action ?? 'accept',
    bidirectional: rule.bidirectional === true,
    protocol: rule.protocol ?? 'all',
    ports: mergeIntervals([...single, ...ranges]),
    authorized: rule.authorized_groups ?? {},
    sources: readSide(rule.sources, rule.sourceResource),
    destinations: readSide(rule.destinations, rule.destinationResource),
  };
}

function readSide(groups: readonly string[] = [], one?: { readonly id?: string }): RuleSide {
  return { groups, ...(one?.id === undefined ? {} : { one: one.id }) };
}

/** Destination in a network: an address, a range or a domain. */
export interface Resource {
  readonly network: string;
  readonly address: string;
  readonly enabled: boolean;
  readonly groups: readonly string[];
}

export const readResource = cachedReader(
  kindOf.resource,
  ({ spec, parent = '' }): Resource => ({
    network: parent,
    address: spec.address ?? '',
    enabled: spec.enabled === true,
    groups: spec[groupFields.resource] ?? [],
  }),
);

/** Peers through which a destination is reached. */
export interface Gateway {
  readonly enabled: boolean;
  readonly peer: string;
  readonly peerGroups: readonly string[];
  readonly metric: number;
  readonly masquerade: boolean;
}

export const readRouter = cachedReader(
  kindOf.router,
  ({ spec, parent = '' }): Gateway & { readonly network: string } => ({
    network: parent,
    ...readGateway(spec),
  }),
);

/** Route: its gateway, the groups that receive it (`groups`), and its access control groups (`guards`). */
export interface Route extends Gateway {
  readonly networkId: string;
  readonly network: string;
  readonly domains: readonly string[];
  readonly groups: readonly string[];
  readonly guards: readonly string[];
  readonly keepRoute: boolean;
  readonly skipAutoApply: boolean;
}

export const readRoute = cachedReader(
  kindOf.route,
  ({ spec }): Route => ({
    ...readGateway(spec),
    networkId: spec.network_id ?? '',
    network: spec.network ?? '',
    domains: spec.domains ?? [],
    groups: spec.groups ?? [],
    guards: spec[groupFields.guarded] ?? [],
    keepRoute: spec.keep_route === true,
    skipAutoApply: spec.skip_auto_apply === true,
  }),
);

/** Reads an ingress port: the allocated ports, the ingress peer they are allocated on, and the peer they lead to. */
export const readIngressPort = cachedReader(kindOf.ingressPort, (port) => ({
  id: port.id,
  name: port.name,
  enabled: port.spec.enabled === true,
  target: port.parent ?? '',
  ingressPeer: port.spec.ingress_peer_id ?? '',
  mappings: mappingsOf(port),
  declared: declarationPositionsOf(port),
}));

/** Reads the properties of an ingress peer that matter for access. */
export const readIngressPeer = cachedReader(kindOf.ingressPeer, ({ spec }) => ({ peer: spec.peer_id ?? '' }));

/** Kind of access tests. They query access and grant none. */
export const testKind = 'AccessTest';

/** Access test: a query and the expected result. */
export interface AccessTest {
  readonly from: string;
  readonly to: string;
  readonly protocol: Protocol;
  readonly ports: readonly Interval[];
  readonly expect: 'allow' | 'deny';
}

export const readTest = cachedReader(testKind, ({ spec }): AccessTest => {
  const [start, last = start] = (spec.port ?? '').split('-').map(Number);
  return {
    from: spec.fromResource?.id ?? spec.from ?? '',
    to: spec.toResource?.id ?? spec.to ?? '',
    protocol: spec.protocol ?? 'all',
    ports: start === undefined || last === undefined || start === 0 ? [] : [{ start, end: last }],
    expect: spec.expect ?? 'allow',
  };
});

/** Whether a test also blocks API requests that change single objects, not only plans of documents. */
export function isEnforced({ spec }: Stored<typeof testKind>): boolean {
  return spec.enforce === 'always';
}

function readGateway(spec: (Stored<'NetworkRouter'> | Stored<'Route'>)['spec']): Gateway {
  return {
    enabled: spec.enabled === true,
    peer: spec.peer ?? '',
    peerGroups: spec.peer_groups ?? [],
    metric: Number(spec.metric),
    masquerade: spec.masquerade === true,
  };
}
