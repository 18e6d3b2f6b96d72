/**
 * Naive model of access: every question iterates over all rules and checks every name, without precomputation. It is
 * slow and independent of the program, and is compared with it.
 */
import type { ObservedPeers } from '../../src/access/ruleset/facts.ts';
import { membersIn } from '../../src/model/state/members.ts';
import type { StoredObject } from '../../src/model/state/object.ts';

/** Traffic that a question asks about. */
export interface Probe {
  readonly protocol: 'tcp' | 'udp' | 'icmp' | 'ssh' | 'other';
  readonly port: number;
}

/** Ports at the boundaries of all ports and ranges that random rules name, and one port that no rule names. */
export const probes: readonly Probe[] = [
  ...[1, 22, 79, 80, 100, 101, 443, 8000, 8001].flatMap((port) =>
    (['tcp', 'udp', 'ssh'] as const).map((protocol): Probe => ({ protocol, port })),
  ),
  { protocol: 'icmp', port: 0 },
  { protocol: 'other', port: 0 },
];

export type Verdict = 'allow' | 'conditional' | 'deny';

/** Degree of certainty: 2 certain, 1 possible, 0 excluded. */
type Sureness = 0 | 1 | 2;

// biome-ignore lint/suspicious/noExplicitAny: the model reads stored specs as they come, without the program's readers
type Raw = any;

/** An account and its observations at one moment. */
export interface Naive {
  readonly objects: readonly StoredObject[];
  readonly observedPeers: ObservedPeers;
  /** Peers that represent a group without members. No endpoint security product has reported about them. */
  readonly imagined?: ReadonlySet<string>;
}

/** Returns the verdict on a connection between two endpoints. */
export function naiveVerdict(account: Naive, from: string, to: string, probe: Probe): Verdict {
  if (from === to || !takesPart(account, from) || !takesPart(account, to)) return 'deny';
  if (find(account, from)?.kind !== 'Peer') return 'deny';
  const route = find(account, to)?.kind === 'Route' ? (find(account, to)?.spec as Raw) : undefined;
  if (route !== undefined && !route.groups.some((group: string) => isIn(account, from, group))) return 'deny';
  const guards: readonly string[] = route?.access_control_groups ?? [];
  if (route !== undefined && guards.length === 0) return 'allow';
  let accept: Sureness = portsForwarded(account, from, to).some((port) => isForwarded(port, probe)) ? 2 : 0;
  let drop: Sureness = 0;
  for (const policy of ofKind(account, 'Policy')) {
    for (const rule of (policy.spec as Raw).rules) {
      const sure = howSure(account, policy, rule, from, to, guards);
      if (sure === 0 || !isAbout(rule, probe)) continue;
      if (rule.action === 'drop') drop = Math.max(drop, sure) as Sureness;
      else accept = Math.max(accept, sure) as Sureness;
    }
  }
  if (accept === 2 && drop === 0) return 'allow';
  return accept > 0 && drop < 2 ? 'conditional' : 'deny';
}

/** Returns the enabled ingress ports of peer `to` that peer `by` forwards. */
export function portsForwarded(account: Naive, by: string, to: string): readonly StoredObject[] {
  return ofKind(account, 'IngressPort').filter(
    (port) => port.spec['enabled'] === true && port.parent === to && forwarderOf(account, port) === by,
  );
}

/**
 * Returns the peer that forwards an ingress port: the peer of its ingress peer, or, while that one is offline, a
 * fallback.
 */
function forwarderOf(account: Naive, port: StoredObject): string | undefined {
  const own = find(account, (port.spec as Raw).ingress_peer_id) as Raw;
  const { offline } = account.observedPeers;
  if (own === undefined || !offline.has(own.spec.peer_id)) return own?.spec.peer_id;
  const others = ofKind(account, 'IngressPeer').filter(({ spec }: Raw) => spec.enabled && spec.fallback);
  const [first] = others
    .filter(({ spec }: Raw) => !offline.has(spec.peer_id) && takesPart(account, spec.peer_id))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  return ((first ?? own) as Raw).spec.peer_id;
}

function isForwarded(port: StoredObject, { protocol, port: number }: Probe): boolean {
  return (port.derived as Raw).port_range_mappings.some(
    (one: Raw) =>
      one.protocol.split('/').includes(protocol) && one.translated_start <= number && number <= one.translated_end,
  );
}

/**
 * Returns the pairs of names, as `from to`, by which some rule accepts traffic between two endpoints, or possibly
 * accepts it.
 */
export function naiveNames(account: Naive, from: string, to: string, probe: Probe): readonly string[] {
  const route = find(account, to)?.kind === 'Route' ? (find(account, to)?.spec as Raw) : undefined;
  const guards: readonly string[] = route?.access_control_groups ?? [];
  if (route !== undefined && guards.length === 0) {
    return route.groups.filter((group: string) => isIn(account, from, group)).map((group: string) => `${group} ${to}`);
  }
  const found = ofKind(account, 'Policy').flatMap((policy) =>
    (policy.spec as Raw).rules.flatMap((rule: Raw) => {
      if (rule.action === 'drop' || !isAbout(rule, probe)) return [];
      const named = (id: string, groups: Raw, one: Raw): readonly string[] => [
        ...(one?.id === id ? [id] : []),
        ...(groups ?? []).filter((group: string) => isNamed(account, id, rule, [group]) || isGuard(id, group)),
      ];
      const isGuard = (id: string, group: string) =>
        id === to && guards.includes(group) && find(account, group) !== undefined;
      const cross = (sources: readonly string[], targets: readonly string[]) =>
        sources.flatMap((source) => targets.map((target) => `${source} ${target}`));
      const [forward, back] = [
        howSure(account, policy, { ...rule, bidirectional: false }, from, to, guards) > 0,
        howSure(account, policy, rule, from, to, guards) > 0 && rule.bidirectional && route === undefined,
      ];
      const turned =
        back &&
        isNamed(account, from, rule, rule.destinations, rule.destinationResource) &&
        isNamed(account, to, rule, rule.sources, rule.sourceResource) &&
        (find(account, to)?.kind !== 'Peer' || passes(account, policy, to) > 0);
      return [
        ...(forward
          ? cross(
              named(from, rule.sources, rule.sourceResource),
              named(to, rule.destinations, rule.destinationResource),
            )
          : []),
        ...(turned
          ? cross(
              named(from, rule.destinations, rule.destinationResource),
              named(to, rule.sources, rule.sourceResource),
            )
          : []),
      ];
    }),
  );
  const isByIngress = portsForwarded(account, from, to).some((port) => isForwarded(port, probe));
  return [...new Set([...found, ...(isByIngress ? [`${from} ${to}`] : [])])];
}

/** Returns how certainly a rule applies to a connection, in either direction. */
function howSure(
  account: Naive,
  policy: Raw,
  rule: Raw,
  from: string,
  to: string,
  guards: readonly string[],
): Sureness {
  if (!policy.spec.enabled || !rule.enabled) return 0;
  let sure: Sureness = 0;
  const reaches = isNamed(account, to, rule, rule.destinations, rule.destinationResource);
  const isGuarded = guards.some((group) => find(account, group) !== undefined && rule.destinations?.includes(group));
  if (isNamed(account, from, rule, rule.sources, rule.sourceResource) && (reaches || isGuarded))
    sure = passes(account, policy, from);
  if (
    rule.bidirectional &&
    isNamed(account, from, rule, rule.destinations, rule.destinationResource) &&
    isNamed(account, to, rule, rule.sources, rule.sourceResource)
  ) {
    const back = find(account, to)?.kind === 'Peer' ? passes(account, policy, to) : 2;
    sure = Math.max(sure, back) as Sureness;
  }
  return sure;
}

function isNamed(
  account: Naive,
  id: string,
  { action }: Raw,
  groups: readonly string[] | undefined,
  one?: Raw,
): boolean {
  if (find(account, id)?.kind === 'Route') return false;
  if (one?.id === id) return true;
  // Accept rules for groups do not apply to temporary peers; drop rules do.
  const holds = action === 'drop' ? isHeld : isIn;
  return (groups ?? []).some((group) => holds(account, id, group));
}

/** Returns whether a peer or a resource is in a group. Always false for a temporary peer. */
export function isIn(account: Naive, id: string, group: string): boolean {
  return find(account, id)?.derived['temporary'] !== true && isHeld(account, id, group);
}

function isHeld(account: Naive, id: string, group: string): boolean {
  const object = find(account, id);
  if (object === undefined || find(account, group) === undefined) return false;
  if (object.kind === 'NetworkResource') return (object.spec as Raw).groups.includes(group);
  if (object.kind === 'ProxyPeer') return ((find(account, group) as Raw).derived.proxies ?? []).includes(id);
  if (object.kind !== 'Peer') return false;
  return group === 'all' || membersIn(find(account, group), 'peers').get(id) !== undefined;
}

/** Returns how certainly a peer passes the posture checks of a policy, given the reported facts. */
function passes(account: Naive, policy: Raw, peer: string): Sureness {
  const results = policy.spec.source_posture_checks.map((id: string): Sureness => {
    const check = find(account, id);
    if (check === undefined) return 0;
    const least = (check.spec as Raw).checks.client_version_check?.min_version;
    if (least === undefined) return 2;
    const version = account.observedPeers.facts.get(peer)?.clientVersion;
    if (version === undefined) return 1;
    return Number(version) >= Number(least) ? 2 : 0;
  });
  return Math.min(2, ...results) as Sureness;
}

/** Returns whether an endpoint exists and takes part in the network. */
export function takesPart(account: Naive, id: string): boolean {
  const object = find(account, id);
  const spec = object?.spec as Raw;
  if (object?.kind === 'Peer')
    return !spec.approval_required && !account.observedPeers.waiting.has(id) && !isKeptOut(account, id);
  if (object?.kind === 'ProxyPeer') return true;
  if (object?.kind === 'Route') return spec.enabled && hasGateway(account, spec);
  if (object?.kind !== 'NetworkResource') return false;
  const routers = ofKind(account, 'NetworkRouter').filter(({ parent }) => parent === object.parent);
  return spec.enabled && routers.some((router: Raw) => router.spec.enabled && hasGateway(account, router.spec));
}

/**
 * Returns whether an enabled endpoint security integration keeps the peer out, because it reports a problem or has not
 * reported yet.
 */
function isKeptOut(account: Naive, id: string): boolean {
  const { deciding, problemsByPeer } = account.observedPeers.verdicts;
  return [...deciding].some(([integration, untrusted]) => {
    const { enabled = false, groups = [] } = (find(account, integration)?.spec ?? {}) as Raw;
    const isAbout = enabled && groups.some((group: string) => isIn(account, id, group));
    return (
      isAbout &&
      account.imagined?.has(id) !== true &&
      (untrusted !== '' || problemsByPeer.get(id)?.[integration] !== '')
    );
  });
}

function hasGateway(account: Naive, spec: Raw): boolean {
  return gatewaysIn(account, spec).length > 0;
}

function gatewaysIn(account: Naive, spec: Raw): readonly string[] {
  return ofKind(account, 'Peer')
    .map(({ id }) => id)
    .filter((id) => takesPart(account, id))
    .filter((id) => spec.peer === id || (spec.peer_groups ?? []).some((group: string) => isIn(account, id, group)));
}

/** Returns the gateways of a resource or a route. Empty when it does not take part. */
export function naiveGateways(account: Naive, id: string): readonly string[] {
  const object = find(account, id);
  if (object === undefined || !takesPart(account, id)) return [];
  const routers = ofKind(account, 'NetworkRouter').filter(
    ({ parent, spec }) => parent === object.parent && spec['enabled'] === true,
  );
  return object.kind === 'Route'
    ? gatewaysIn(account, object.spec)
    : [...new Set(routers.flatMap(({ spec }) => gatewaysIn(account, spec)))];
}

/**
 * Returns whether a stored rule applies to a probe. SSH is TCP: an `ssh` rule applies to both, and a rule that drops
 * TCP also drops SSH.
 */
export function isAbout(rule: Raw, { protocol, port }: Probe): boolean {
  const listed = [
    ...(rule.ports ?? []).map(Number).map((one: number) => [one, one]),
    ...(rule.port_ranges ?? []).map(({ start, end }: Raw) => [start, end]),
  ];
  const ranges = listed.length > 0 ? listed : [rule.protocol === 'ssh' ? [22, 22] : [1, 65535]];
  const inRange = ranges.some(([start, end]) => start <= port && port <= end);
  if (rule.protocol === 'all') return true;
  if (rule.protocol === 'icmp') return protocol === 'icmp';
  if (rule.protocol === 'udp') return protocol === 'udp' && inRange;
  if (rule.protocol === 'ssh') return (protocol === 'ssh' || protocol === 'tcp') && inRange;
  return (protocol === 'tcp' || (protocol === 'ssh' && rule.action === 'drop')) && inRange;
}

function find({ objects }: Naive, id: string): StoredObject | undefined {
  return listed(objects).byId.get(id);
}

function ofKind({ objects }: Naive, kind: string): readonly StoredObject[] {
  return listed(objects).byKind.get(kind) ?? [];
}

/** Cache of the objects by id and by kind. Searching all objects each time would take minutes. */
const lists = new WeakMap<readonly StoredObject[], ReturnType<typeof list>>();

function listed(objects: readonly StoredObject[]): ReturnType<typeof list> {
  const known = lists.get(objects) ?? list(objects);
  lists.set(objects, known);
  return known;
}

function list(objects: readonly StoredObject[]) {
  return {
    byId: new Map(objects.map((object) => [object.id, object])),
    byKind: Map.groupBy(objects, ({ kind }) => kind),
  };
}
