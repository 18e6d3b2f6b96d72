/**
 * The door between stored objects and access: the only file here that knows what kinds and their fields are called. It
 * reads each object once, as long as that object lives.
 */
import { type Interval, joinIntervals } from '../lib/intervals.ts';
import { isObject, type JsonObject } from '../lib/json.ts';
import { entryIdsOf } from '../model/entry-ids.ts';
import { keyedEntries } from '../model/keyed-entries.ts';
import { originOf, type StoredObject } from '../model/object.ts';
import type { Checks } from './posture.ts';
import { once, partReader } from './readers.ts';

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
  readonly guest: boolean;
}

export const readPeer = once(({ spec, derived }): Peer => {
  return { approved: spec['approval_required'] !== true, guest: derived['temporary'] === true };
});

/** Who is in a group: the listed peers, or simply all; the proxies of a cluster, if it is theirs. */
export interface Group {
  readonly all: boolean;
  readonly peers: readonly string[];
  readonly proxies: readonly string[];
}

export const readGroup = once(({ spec, derived }): Group => {
  const peers = spec[groupFields.member];
  // Membership is stored as element to origins; documents and tests may give the plain list.
  const listed = Array.isArray(peers) ? peers.map(String) : Object.keys(isObject(peers) ? peers : {});
  return { all: derived['system'] === 'all', peers: listed, proxies: textsOf(derived, 'proxies') };
});

/** The checks of a posture check. */
export const readChecks = once(({ spec }): Checks => {
  // Stored specs are canonical, so the checks have the shape that their fields give them.
  return (spec['checks'] ?? {}) as Checks;
});

export type Protocol = 'all' | 'tcp' | 'udp' | 'icmp' | 'ssh';

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
  readonly action: 'accept' | 'drop';
  readonly bidirectional: boolean;
  readonly protocol: Protocol;
  /** None: all of them. */
  readonly ports: readonly Interval[];
  /** For `ssh`: the local users that each group of users may log in as; none given, any. */
  readonly authorized: Readonly<Record<string, readonly string[]>>;
  readonly sources: Side;
  readonly destinations: Side;
}

/** A policy with its rules. */
export interface Policy {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly postures: readonly string[];
  readonly rules: readonly Rule[];
  /** The object that it follows from, such as a private service. */
  readonly origin?: string;
  /** Where it is declared. */
  readonly declared: readonly { readonly source: string; readonly file: string; readonly line: number }[];
}

export const readPolicy = once((object): Policy => {
  const { id, name, spec, declared } = object;
  const ids = entryIdsOf(object)['rules'] ?? {};
  const rules = keyedEntries('name', listOf(spec, 'rules'));
  const origin = originOf(object);
  return {
    id,
    name,
    enabled: spec['enabled'] === true,
    postures: textsOf(spec, 'source_posture_checks'),
    rules: rules.map(([key, rule]) => readRule(ids[key] ?? id, key, rule)),
    ...(origin === undefined ? {} : { origin }),
    declared: declared.map(({ source, file, line }) => ({ source, file, line })),
  };
});

function readRule(id: string, key: string, rule: JsonObject): Rule {
  const single = textsOf(rule, 'ports').map((port) => ({ start: Number(port), end: Number(port) }));
  const ranges = listOf(rule, 'port_ranges').map(({ start, end }) => ({ start: Number(start), end: Number(end) }));
  return {
    id,
    key,
    name: textOf(rule, 'name'),
    enabled: rule['enabled'] === true,
    action: rule['action'] === 'drop' ? 'drop' : 'accept',
    bidirectional: rule['bidirectional'] === true,
    // The field allows these words alone.
    protocol: textOf(rule, 'protocol') as Protocol,
    ports: joinIntervals([...single, ...ranges]),
    // The field is a map of lists of texts.
    authorized: (rule['authorized_groups'] ?? {}) as Rule['authorized'],
    sources: readSide(rule, 'sources', 'sourceResource'),
    destinations: readSide(rule, 'destinations', 'destinationResource'),
  };
}

function readSide(rule: JsonObject, groups: string, one: string): Side {
  const resource = rule[one];
  return {
    groups: textsOf(rule, groups),
    ...(isObject(resource) && typeof resource['id'] === 'string' ? { one: resource['id'] } : {}),
  };
}

/** What a network leads to: an address, a range or a domain. */
export interface Resource {
  readonly network: string;
  readonly address: string;
  readonly enabled: boolean;
  readonly groups: readonly string[];
}

export const readResource = once(
  ({ spec, parent = '' }): Resource => ({
    network: parent,
    address: textOf(spec, 'address'),
    enabled: spec['enabled'] === true,
    groups: textsOf(spec, groupFields.resource),
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

export const readRouter = once(({ spec, parent = '' }): Gateway & { readonly network: string } => ({
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

export const readRoute = once(
  ({ spec }): Route => ({
    ...readGateway(spec),
    networkId: textOf(spec, 'network_id'),
    network: textOf(spec, 'network'),
    domains: textsOf(spec, 'domains'),
    groups: textsOf(spec, 'groups'),
    guards: textsOf(spec, groupFields.guarded),
    keepRoute: spec['keep_route'] === true,
    skipAutoApply: spec['skip_auto_apply'] === true,
  }),
);

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

export const readTest = once(({ spec }): AccessTest => {
  const end = (group: string, one: string): string => {
    const resource = spec[one];
    return isObject(resource) && typeof resource['id'] === 'string' ? resource['id'] : textOf(spec, group);
  };
  const [start, last = start] = textOf(spec, 'port').split('-').map(Number);
  return {
    from: end('from', 'fromResource'),
    to: end('to', 'toResource'),
    // The field allows these words alone.
    protocol: textOf(spec, 'protocol') as Protocol,
    ports: start === undefined || last === undefined || start === 0 ? [] : [{ start, end: last }],
    expect: spec['expect'] === 'deny' ? 'deny' : 'allow',
  };
});

/** Whether a test binds requests about single objects too. */
export function isEnforced({ spec }: StoredObject): boolean {
  return spec['enforce'] === 'always';
}

function readGateway(spec: JsonObject): Gateway {
  return {
    enabled: spec['enabled'] === true,
    peer: textOf(spec, 'peer'),
    peerGroups: textsOf(spec, 'peer_groups'),
    metric: Number(spec['metric']),
    masquerade: spec['masquerade'] === true,
  };
}

function textOf(spec: JsonObject, field: string): string {
  const value = spec[field];
  return typeof value === 'string' ? value : '';
}

function textsOf(spec: JsonObject, field: string): readonly string[] {
  const value = spec[field];
  return Array.isArray(value) ? value.map(String) : [];
}

function listOf(spec: JsonObject, field: string): readonly JsonObject[] {
  const value = spec[field];
  // The members that are read like this are lists of objects.
  return Array.isArray(value) ? (value as readonly JsonObject[]) : [];
}
