import fc from 'fast-check';
import type { ObservedPeers, PeerFacts } from '../../src/access/ruleset/facts.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { stored } from '../kinds/objects.ts';

const peerIds = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6'];
const groupIds = ['g1', 'g2', 'g3', 'g4'];
const resourceIds = ['r1', 'r2', 'r3'];
const networkIds = ['n1', 'n2'];
const checkIds = ['c1', 'c2'];
const proxyIds = ['x1', 'x2'];

/** The built-in group that contains every peer. */
const allGroup = stored('Group', 'all', { name: 'All' }, { derived: { issued: 'api', system: 'all' } });
const networks = networkIds.map((id) => stored('Network', id, { name: id }));
const proxies = proxyIds.map((id) => stored('ProxyPeer', id, { name: id }));
const anyGroups = ['all', ...groupIds];

const some = (ids: readonly string[], least = 0) => fc.subarray([...ids], { minLength: least });
const one = (ids: readonly string[]) => fc.constantFrom(...ids);

const aPeer = fc
  .record({ id: one(peerIds), waits: fc.integer({ min: 0, max: 5 }).map((n) => n === 0) })
  .map(({ id, waits }) => {
    // `p6` is always temporary: a peer cannot change that during its life.
    const derived = id === 'p6' ? { temporary: true } : {};
    return stored('Peer', id, { name: id, dns_label: id, approval_required: waits }, { derived });
  });

const aGroup = fc
  .record({ id: one(groupIds), peers: some(peerIds), proxies: fc.oneof(fc.constant([]), some(proxyIds)) })
  .map(({ id, peers, proxies }) => stored('Group', id, { name: id, peers }, { derived: { proxies } }));

const aCheck = fc
  .record({ id: one(checkIds), least: fc.constantFrom('1.0', '2.0', undefined) })
  .map(({ id, least }) => {
    const checks: JsonObject = least === undefined ? {} : { client_version_check: { min_version: least } };
    return stored('PostureCheck', id, { name: id, checks });
  });

const aResource = fc
  .record({ id: one(resourceIds), network: one(networkIds), enabled: often(), groups: some(anyGroups) })
  .map(({ id, network, enabled, groups }) =>
    stored('NetworkResource', id, { network, name: id, address: '10.0.0.1', enabled, groups }, { parent: network }),
  );

const aGateway = fc.oneof(
  one(peerIds).map((peer): JsonObject => ({ peer })),
  some(groupIds, 1).map((groups): JsonObject => ({ peer_groups: groups })),
);

const aRouter = fc
  .record({ id: one(['t1', 't2']), network: one(networkIds), enabled: often(), gateway: aGateway })
  .map(({ id, network, enabled, gateway }) =>
    stored('NetworkRouter', id, { network, metric: 100, masquerade: true, enabled, ...gateway }, { parent: network }),
  );

const aRoute = fc
  .record({
    id: one(['w1', 'w2']),
    enabled: often(),
    gateway: aGateway,
    groups: some(anyGroups, 1),
    guards: fc.oneof(fc.constant([]), some(groupIds, 1)),
  })
  .map(({ id, enabled, gateway, groups, guards }) => {
    const rest = { metric: 100, masquerade: true, keep_route: false, description: '', network: '10.9.0.0/16' };
    const spec = { network_id: id, enabled, groups, access_control_groups: guards, ...rest, ...gateway };
    return stored('Route', id, spec);
  });

const portSets = [[], ['22'], ['80'], ['80', '443'], ['22', '8000']];
const rangeSets = [[{ start: 1, end: 100 }], [{ start: 80, end: 8000 }], [{ start: 22, end: 22 }]];

const aSide = (groups: string, single: string): fc.Arbitrary<JsonObject> =>
  fc.oneof(
    { weight: 3, arbitrary: some(anyGroups, 1).map((ids): JsonObject => ({ [groups]: ids })) },
    { weight: 1, arbitrary: one(peerIds).map((id): JsonObject => ({ [single]: { id, type: 'peer' } })) },
    { weight: 1, arbitrary: one(resourceIds).map((id): JsonObject => ({ [single]: { id, type: 'host' } })) },
  );

const aRule = fc
  .record({
    enabled: often(),
    action: fc.constantFrom('accept', 'accept', 'drop'),
    bidirectional: fc.boolean(),
    protocol: fc.constantFrom('all', 'tcp', 'udp', 'icmp', 'ssh'),
    ports: fc.oneof(
      fc.constantFrom(...portSets).map((ports): JsonObject => ({ ports })),
      fc.constantFrom(...rangeSets).map((ranges): JsonObject => ({ port_ranges: ranges })),
    ),
    from: aSide('sources', 'sourceResource'),
    to: aSide('destinations', 'destinationResource'),
  })
  .map(({ ports, from, to, ...rule }): JsonObject => {
    const given = ['all', 'icmp'].includes(rule.protocol) ? {} : ports;
    return { ...rule, ...given, ...from, ...to };
  });

const aPolicy = fc
  .record({
    id: one(['y1', 'y2', 'y3', 'y4']),
    enabled: often(),
    checks: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: some(checkIds) }),
    rules: fc.array(aRule, { minLength: 1, maxLength: 3 }),
  })
  .map(({ id, enabled, checks, rules }) => {
    const named = rules.map((rule, at) => ({ name: `rule ${at}`, ...rule }));
    return stored('Policy', id, { name: id, enabled, source_posture_checks: checks, rules: named });
  });

const ingressIds = ['i1', 'i2', 'i3'];

const anIngressPeer = fc
  .record({ id: one(ingressIds), on: one(peerIds), enabled: often(), fallback: fc.boolean() })
  .map(({ id, on, enabled, fallback }) => stored('IngressPeer', id, { peer_id: on, enabled, fallback }));

/** Port mapping of each ingress port. The port numbers of different ingress ports do not overlap. */
const forwarded: Readonly<Record<string, JsonObject>> = {
  e1: { translated_start: 80, translated_end: 80, ingress_start: 20001, ingress_end: 20001, protocol: 'tcp' },
  e2: { translated_start: 443, translated_end: 8000, ingress_start: 21000, ingress_end: 28557, protocol: 'tcp/udp' },
  e3: { translated_start: 22, translated_end: 22, ingress_start: 20002, ingress_end: 20002, protocol: 'udp' },
};

const anIngressPort = fc
  .record({ id: one(Object.keys(forwarded)), of: one(peerIds), by: one(ingressIds), enabled: often() })
  .map(({ id, of, by, enabled }) => {
    const { translated_start: start = 0, translated_end: end = 0, protocol = '' } = forwarded[id] ?? {};
    const spec = { peer: of, name: id, enabled, ingress_peer_id: by, port_ranges: [{ start, end, protocol }] };
    return stored('IngressPort', id, spec, { parent: of, derived: { port_range_mappings: [forwarded[id] ?? {}] } });
  });
const integrationIds = ['v1', 'v2'];

const anIntegration = fc
  .record({ id: one(integrationIds), enabled: often(), groups: some(anyGroups) })
  .map(({ id, enabled, groups }) => stored('EdrVendorA', id, { api_url: 'https://edr.example.com', enabled, groups }));

/**
 * Arbitrary object that affects access, except the group `all`, the networks and the proxies, which every account
 * contains.
 */
const anObject: fc.Arbitrary<StoredObject> = fc.oneof(
  { weight: 3, arbitrary: aPeer },
  { weight: 3, arbitrary: aGroup },
  { weight: 1, arbitrary: aCheck },
  { weight: 2, arbitrary: aResource },
  { weight: 1, arbitrary: aRouter },
  { weight: 1, arbitrary: aRoute },
  { weight: 4, arbitrary: aPolicy },
  { weight: 2, arbitrary: anIngressPeer },
  { weight: 2, arbitrary: anIngressPort },
  { weight: 1, arbitrary: anIntegration },
);

const changeable = [
  ...peerIds,
  ...groupIds,
  ...resourceIds,
  ...checkIds,
  ...ingressIds,
  ...Object.keys(forwarded),
  ...integrationIds,
  't1',
  't2',
  'w1',
  'w2',
  'y1',
  'y2',
  'y3',
  'y4',
];

const theFacts: fc.Arbitrary<PeerFacts | undefined> = fc.constantFrom(
  undefined,
  {},
  { clientVersion: '0.9' },
  { clientVersion: '1.5' },
  { clientVersion: '2.1' },
);

/**
 * Arbitrary observations of peers: reported facts, peers that wait for approval, expired logins, offline peers and the
 * results of endpoint security products.
 */
export const someObservedPeers: fc.Arbitrary<ObservedPeers> = fc
  .record({
    facts: fc.array(theFacts, { minLength: peerIds.length, maxLength: peerIds.length }),
    waiting: fc.subarray(peerIds, { maxLength: 1 }),
    expired: fc.subarray(peerIds, { maxLength: 2 }),
    offline: fc.subarray(peerIds),
    deciding: fc.dictionary(fc.constantFrom(...integrationIds), fc.constantFrom('', '', 'it does not answer')),
    said: fc.dictionary(
      fc.constantFrom(...peerIds),
      fc.dictionary(fc.constantFrom(...integrationIds), fc.constantFrom('', '', 'the firewall is off')),
    ),
  })
  .map(({ facts, waiting, expired, offline, deciding, said }) => ({
    facts: new Map(facts.flatMap((own, at) => (own === undefined ? [] : [[peerIds[at] ?? '', own] as const]))),
    waiting: new Set(waiting),
    expired: new Set(expired),
    offline: new Set(offline),
    verdicts: { deciding: new Map(Object.entries(deciding)), problemsByPeer: new Map(Object.entries(said)) },
  }));

/** Arbitrary account: objects with distinct ids, plus the objects that every account contains. */
export const anAccount: fc.Arbitrary<readonly StoredObject[]> = fc
  .uniqueArray(anObject, { selector: ({ id }) => id, minLength: 8, maxLength: 30 })
  .map((objects) => [allGroup, ...networks, ...proxies, ...peersAtLeast(objects)]);

/** A change: objects to put, and ids of objects to remove. No id is in both. */
export interface Change {
  readonly put: readonly StoredObject[];
  readonly remove: readonly string[];
}

/** Arbitrary change of at most five objects. */
export const aChange: fc.Arbitrary<Change> = fc
  .record({
    put: fc.uniqueArray(anObject, { selector: ({ id }) => id, maxLength: 3 }),
    remove: fc.subarray(changeable, { maxLength: 2 }),
  })
  .map(({ put, remove }) => ({ put, remove: remove.filter((id) => !put.some((object) => object.id === id)) }));

/** Returns the objects after a change. */
export function applyChange(objects: readonly StoredObject[], { put, remove }: Change): readonly StoredObject[] {
  const gone = new Set([...remove, ...put.map(({ id }) => id)]);
  return [...objects.filter(({ id }) => !gone.has(id)), ...put];
}

function often(): fc.Arbitrary<boolean> {
  return fc.integer({ min: 0, max: 5 }).map((n) => n > 0);
}

/** Adds missing peers, so that every account has at least the first three. */
function peersAtLeast(objects: readonly StoredObject[]): readonly StoredObject[] {
  const known = new Set(objects.map(({ id }) => id));
  const missing = peerIds.slice(0, 3).filter((id) => !known.has(id));
  return [...missing.map((id) => stored('Peer', id, { name: id, dns_label: id })), ...objects];
}

/** Returns the number of runs of a property of which a full test has `full` runs. */
export type Runs = (full: number) => number;

/** All runs, multiplied by `HEDDLE_TEST_RUNS` in soak tests. */
export const allRuns: Runs = (full) => full * Number(process.env['HEDDLE_TEST_RUNS'] ?? 1);

/** So few runs that all properties together take about a second. */
export const fewRuns: Runs = (full) => Math.ceil(full / 20);
