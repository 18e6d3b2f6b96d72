/**
 * The door between stored objects and access: the only file here that knows what kinds and their fields are called. It
 * reads each object once, as long as that object lives.
 */

import { type Interval, joinIntervals } from '../../lib/bits/intervals.ts';
import type { protocols, ruleActions } from '../../model/declare/access-words.ts';
import { entryIdsOf, keyedEntries } from '../../model/schema/entries.ts';
import { mappingsOf, type PortMapping } from '../../model/state/ingress-ports.ts';
import { membersIn } from '../../model/state/members.ts';
import { originOf, type StoredObject } from '../../model/state/object.ts';
import type { Stored } from '../../model/state/stored.ts';
import { partReader, readerOf } from './cached-readers.ts';
import type { Checks } from './posture.ts';

/** What access is made of, and the kind that each part is stored as. */
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

export type Part = keyof typeof kindOf;

/** Which part of access an object is, `undefined` when it is none. */
export const partOf = partReader(kindOf);

/** The fields by which parts name groups other than in rules. */
export const groupFields = { resource: 'groups', guarded: 'access_control_groups', member: 'peers' } as const;

/** A peer as far as access goes. */
export interface Peer {
  readonly approved: boolean;
  /** It is there to reach one other peer: what groups are let do is not for it. */
  readonly temporary: boolean;
}

export const readPeer = readerOf(kindOf.peer, ({ spec, derived }): Peer => {
  return { approved: spec.approval_required !== true, temporary: derived.temporary === true };
});

/** Who is in a group: the listed peers, or simply all; the proxies of a cluster, if it is theirs. */
export interface Group {
  readonly all: boolean;
  readonly peers: readonly string[];
  readonly proxies: readonly string[];
  /** Whether it has this peer; does not walk the peers. */
  holds(peer: string): boolean;
}

export const readGroup = readerOf(kindOf.group, (group): Group => {
  const { system, proxies = [] } = group.derived;
  const all = system === 'all';
  const members = membersIn(group, groupFields.member);
  return { all, peers: members.keys(), proxies, holds: (peer) => all || members.get(peer) !== undefined };
});

/** An integration as far as its product decides about peers. */
interface Validator {
  /** About whose peers it decides. */
  readonly groups: readonly string[];
}

/** The kinds of such integrations have these fields in common. */
export const readValidator = readerOf('EdrVendorA', ({ spec }): Validator => {
  return { groups: spec.enabled === true ? (spec.groups ?? []) : [] };
});

/** The checks of a posture check. */
export const readChecks = readerOf(kindOf.posture, ({ spec }): Checks => {
  // Stored specs are canonical, so the checks have the shape that their fields give them.
  return (spec.checks ?? {}) as Checks;
});

export type Protocol = (typeof protocols)[number];

export type RuleAction = (typeof ruleActions)[number];

/** One end of a rule: the members of groups, or one object. */
export interface Side {
  readonly groups: readonly string[];
  readonly one?: string;
}

/** One rule of a policy. */
export interface Rule {
  readonly id: string;
  /** Unique within the policy, also where names repeat. */
  readonly key: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly action: RuleAction;
  readonly bidirectional: boolean;
  readonly protocol: Protocol;
  /** None: all of them. */
  readonly ports: readonly Interval[];
  /** For `ssh`: the local users that each group of users may log in as; none given, any. */
  readonly authorized: Readonly<Record<string, readonly string[]>>;
  readonly sources: Side;
  readonly destinations: Side;
}

/** Ports of a peer that are reached from outside the mesh, by way of another peer. */
export interface Ingress {
  /** The peer that forwards them, and the one whose ports they are. */
  readonly gateway: string;
  readonly target: string;
  readonly mappings: readonly PortMapping[];
  /** The peer that would forward them if it were online. */
  readonly standsInFor?: string;
}

/** A policy with its rules. */
export interface Policy {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly postures: readonly string[];
  readonly rules: readonly Rule[];
  /** How ports are forwarded, when it stands for an ingress port. */
  readonly ingress?: Ingress;
  /** The object that it follows from, such as a private service. */
  readonly origin?: string;
  /** Where it is declared. */
  readonly declared: readonly { readonly source: string; readonly file: string; readonly line: number }[];
}

export const readPolicy = readerOf(kindOf.policy, (object): Policy => {
  const { id, name, spec } = object;
  const ids = entryIdsOf(object)['rules'] ?? {};
  const rules = keyedEntries('name', spec.rules ?? []);
  const origin = originOf(object);
  return {
    id,
    name,
    enabled: spec.enabled === true,
    postures: spec.source_posture_checks ?? [],
    rules: rules.map(([key, rule]) => readRule(ids[key] ?? id, key, rule)),
    ...(origin === undefined ? {} : { origin }),
    declared: placesOf(object),
  };
});

function placesOf({ declared }: StoredObject): Policy['declared'] {
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
    ports: joinIntervals([...single, ...ranges]),
    authorized: rule.authorized_groups ?? {},
    sources: readSide(rule.sources, rule.sourceResource),
    destinations: readSide(rule.destinations, rule.destinationResource),
  };
}

function readSide(groups: readonly string[] = [], one?: { readonly id?: string }): Side {
  return { groups, ...(one?.id === undefined ? {} : { one: one.id }) };
}

/** What a network leads to: an address, a range or a domain. */
export interface Resource {
  readonly network: string;
  readonly address: string;
  readonly enabled: boolean;
  readonly groups: readonly string[];
}

export const readResource = readerOf(
  kindOf.resource,
  ({ spec, parent = '' }): Resource => ({
    network: parent,
    address: spec.address ?? '',
    enabled: spec.enabled === true,
    groups: spec[groupFields.resource] ?? [],
  }),
);

/** The peers by way of which something is reached. */
export interface Gateway {
  readonly enabled: boolean;
  readonly peer: string;
  readonly peerGroups: readonly string[];
  readonly metric: number;
  readonly masquerade: boolean;
}

export const readRouter = readerOf(kindOf.router, ({ spec, parent = '' }): Gateway & { readonly network: string } => ({
  network: parent,
  ...readGateway(spec),
}));

/** A route: its own gateway, who receives it, and which groups guard it. */
export interface Route extends Gateway {
  readonly networkId: string;
  readonly network: string;
  readonly domains: readonly string[];
  readonly groups: readonly string[];
  readonly guards: readonly string[];
  readonly keepRoute: boolean;
  readonly skipAutoApply: boolean;
}

export const readRoute = readerOf(
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

/** An ingress port: what was allocated, on which ingress peer, and for which peer. */
export const readIngressPort = readerOf(kindOf.ingressPort, (port) => ({
  id: port.id,
  name: port.name,
  enabled: port.spec.enabled === true,
  target: port.parent ?? '',
  ingressPeer: port.spec.ingress_peer_id ?? '',
  mappings: mappingsOf(port),
  declared: placesOf(port),
}));

/** An ingress peer as far as access goes. */
export const readIngressPeer = readerOf(kindOf.ingressPeer, ({ spec }) => ({ peer: spec.peer_id ?? '' }));

/** The kind of tests. They ask about access and make none. */
export const testKind = 'AccessTest';

/** A test: a question, and the answer that is expected. */
export interface AccessTest {
  readonly from: string;
  readonly to: string;
  readonly protocol: Protocol;
  readonly ports: readonly Interval[];
  readonly expect: 'allow' | 'deny';
}

export const readTest = readerOf(testKind, ({ spec }): AccessTest => {
  const [start, last = start] = (spec.port ?? '').split('-').map(Number);
  return {
    from: spec.fromResource?.id ?? spec.from ?? '',
    to: spec.toResource?.id ?? spec.to ?? '',
    protocol: spec.protocol ?? 'all',
    ports: start === undefined || last === undefined || start === 0 ? [] : [{ start, end: last }],
    expect: spec.expect ?? 'allow',
  };
});

/** Whether a test binds requests about single objects too. */
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
