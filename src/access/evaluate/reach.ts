import { type BitSet, bitsOf, hasBit, intersectBits, subtractBits, uniteBits } from '../../lib/bits/bit-set.ts';
import type { AccessImage } from '../ruleset/access.ts';
import { idsAt, slotsOf } from '../ruleset/endpoints.ts';
import { effectOf, type Flow, type FlowEffect, flowAt } from '../ruleset/flows.ts';
import { accessTypeOf, readResource, readRoute } from '../ruleset/object-readers.ts';
import { compareTexts } from './named.ts';
import { type DestinationWithSlot, neighbourhoodOf } from './neighbours.ts';
import { findFlowIndexes } from './reachability.ts';

/**
 * What a peer needs to know: all certain access, in a stable order. Equal lists of peers are shared between results of
 * one image. They may contain the peer itself, which has no meaning.
 */
export interface Reach {
  readonly peer: string;
  /** Ids of peers with which the peer keeps a tunnel. */
  readonly peers: readonly string[];
  /** Ids of peers with which it would keep a tunnel, but whose user has to sign in again. */
  readonly away: readonly string[];
  /** Connections that it may open, and that may be opened to it. Drops come first, because they win. */
  readonly outbound: readonly FirewallRule[];
  readonly inbound: readonly FirewallRule[];
  /** Destinations that it reaches through gateways. */
  readonly uses: readonly UsedDestination[];
  /** Destinations for which it is a gateway. */
  readonly serves: readonly ServedDestination[];
}

/** One rule in one direction, with the ids of the peers on the other side. */
export interface FirewallRule extends FlowEffect {
  readonly peers: readonly string[];
  /** For `ssh`: the local users that each group may log in as. Without groups: any local user. */
  readonly authorizedGroups?: Readonly<Record<string, readonly string[]>>;
}

/** A resource or a route. */
export interface DestinationInfo {
  readonly type: 'resource' | 'route';
  readonly id: string;
  /** Name that is equal for routes that can replace each other; for a resource, its own name. */
  readonly name: string;
  /** Address, range or domain of a resource; range of a route. Empty for routes to domains. */
  readonly address: string;
  readonly domains: readonly string[];
  readonly keepRoute: boolean;
  readonly skipAutoApply: boolean;
}

/** A destination that a peer reaches through gateways. */
export interface UsedDestination extends DestinationInfo {
  /** Ways to the destination, ordered by metric. */
  readonly ways: readonly UsedWay[];
}

/** Gateways to a destination, from one router or from the route itself. */
export interface UsedWay {
  readonly id: string;
  readonly peers: readonly string[];
  readonly metric: number;
  readonly masquerade: boolean;
}

/** A destination for which a peer is a gateway, and the traffic that it must let through. */
export interface ServedDestination extends DestinationInfo {
  readonly ways: readonly Omit<UsedWay, 'peers'>[];
  readonly rules: readonly FirewallRule[];
}

/** Returns what a peer needs to know; `undefined` when the peer does not exist. */
export function reachOf(access: AccessImage, peer: string): Reach | undefined {
  const at = access.endpoints.slots.get(peer);
  if (at === undefined || !hasBit(access.endpoints.byType.peer, at)) return undefined;
  if (!hasBit(access.live, at) || access.observedPeers.expired.has(peer)) return emptyReach(peer);
  const { neighbours, ...rest } = commonReach(access, at);
  const others = subtractBits(neighbours, bitsOf([at]));
  const expired = slotsOf(access.endpoints, access.observedPeers.expired);
  return {
    peer,
    peers: idsAt(access.endpoints, subtractBits(others, expired)),
    away: idsAt(access.endpoints, intersectBits(others, expired)),
    ...rest,
  };
}

/** The part that equivalent peers have in common. `neighbours` may contain the peer itself. */
type CommonReach = Pick<Reach, 'outbound' | 'inbound' | 'uses' | 'serves'> & { readonly neighbours: BitSet };

function commonReach(access: AccessImage, at: number): CommonReach {
  const neighbourhood = neighbourhoodOf(access, at);
  return {
    neighbours: neighbourhood.neighbours,
    outbound: rulesOf(access, at, 'to'),
    inbound: rulesOf(access, at, 'from'),
    uses: neighbourhood.uses.map((used) => describeUsedDestination(access, used)).sort(compareIds),
    serves: neighbourhood.serves.map((served) => describeServedDestination(access, served, at)).sort(compareIds),
  };
}

function emptyReach(peer: string): Reach {
  return { peer, peers: [], away: [], outbound: [], inbound: [], uses: [], serves: [] };
}

/** Returns the rules of the flows that apply to an endpoint, with the peers on the other side. */
function rulesOf(access: AccessImage, at: number, other: 'from' | 'to'): readonly FirewallRule[] {
  const own = other === 'to' ? 'from' : 'to';
  const drops: FirewallRule[] = [];
  const accepts: FirewallRule[] = [];
  for (const nth of findFlowIndexes(access, at, own)) {
    const flow = flowAt(access.flows, nth);
    const which = flow.drop ? 'possible' : 'sure';
    if (!hasBit(flow[own][which], at)) continue;
    const rule = ruleOf(access, flow, flow[other][which]);
    if (rule.peers.length > 0) (flow.drop ? drops : accepts).push(rule);
  }
  return [...drops, ...accepts];
}

/** Cached rules, by flow and by the set of peers on the other side. */
const rulesByFlow = new WeakMap<Flow, WeakMap<BitSet, FirewallRule>>();

function ruleOf(access: AccessImage, flow: Flow, others: BitSet): FirewallRule {
  const known = rulesByFlow.get(flow) ?? new WeakMap<BitSet, FirewallRule>();
  rulesByFlow.set(flow, known);
  const present = known.get(others);
  if (present !== undefined) return present;
  const rule = makeRule(
    flow,
    idsAt(
      access.endpoints,
      intersectBits(others, uniteBits(access.endpoints.byType.peer, access.endpoints.byType.proxy)),
    ),
  );
  known.set(others, rule);
  return rule;
}

function makeRule(flow: Flow, peers: readonly string[]): FirewallRule {
  const rule = flow.by?.rule;
  return { ...effectOf(flow), peers, ...(rule?.protocol === 'ssh' ? { authorizedGroups: rule.authorized } : {}) };
}

function describeUsedDestination(access: AccessImage, { destination }: DestinationWithSlot): UsedDestination {
  const ways = destination.ways.map(({ id, peers, metric, masquerade }) => ({
    id,
    peers: idsAt(access.endpoints, peers),
    metric,
    masquerade,
  }));
  return { ...describeDestination(destination.object), ways: ways.sort(compareWays) };
}

function describeServedDestination(
  access: AccessImage,
  { slot, destination }: DestinationWithSlot,
  gateway: number,
): ServedDestination {
  const own = destination.ways.filter(({ peers }) => hasBit(peers, gateway));
  const ways = own.map(({ id, metric, masquerade }) => ({ id, metric, masquerade }));
  return { ...describeDestination(destination.object), ways: ways.sort(compareWays), rules: rulesTo(access, slot) };
}

/** Returns the rules for traffic to a destination. Only receivers use a guarded route, whatever the policies are. */
function rulesTo(access: AccessImage, at: number): readonly FirewallRule[] {
  const guardedRoute = access.guardedRoutes.find(({ slot }) => slot === at);
  const rules = rulesOf(access, at, 'from');
  if (guardedRoute === undefined) return rules;
  const receivers = new Set(idsAt(access.endpoints, guardedRoute.receivers));
  return rules
    .map((rule) => ({ ...rule, peers: rule.peers.filter((peer) => receivers.has(peer)) }))
    .filter(({ peers }) => peers.length > 0);
}

function describeDestination(object: DestinationWithSlot['destination']['object']): DestinationInfo {
  if (accessTypeOf(object) === 'resource') {
    const common = { domains: [], keepRoute: false, skipAutoApply: false };
    return { type: 'resource', id: object.id, name: object.name, address: readResource(object).address, ...common };
  }
  const { networkId, network, domains, keepRoute, skipAutoApply } = readRoute(object);
  return { type: 'route', id: object.id, name: networkId, address: network, domains, keepRoute, skipAutoApply };
}

function compareIds(a: { readonly id: string }, b: { readonly id: string }): number {
  return compareTexts(a.id, b.id);
}

function compareWays(a: Omit<UsedWay, 'peers'>, b: Omit<UsedWay, 'peers'>): number {
  return a.metric - b.metric || compareIds(a, b);
}
