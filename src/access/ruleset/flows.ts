import {
  type BitSet,
  bitsOf,
  equalBits,
  intersectBits,
  isEmptyBits,
  noBits,
  subtractBits,
  uniteBits,
} from '../../lib/bits/bit-set.ts';
import type { Interval } from '../../lib/bits/intervals.ts';
import type { PersistentMap } from '../../lib/persistent-map.ts';
import { allTraffic, type Traffic, trafficKey, trafficOf } from '../evaluate/traffic.ts';
import type { Endpoints } from './endpoints.ts';
import type { Membership } from './groups.ts';
import type { Policy, Protocol, Rule, RuleAction, RuleSide } from './object-readers.ts';
import type { EvaluatedPosture } from './postures.ts';
import type { RoutedDestination } from './routed-destinations.ts';

/**
 * Endpoints at one side of a flow: those included for certain (`sure`), and those certainly or possibly included
 * (`possible`). The same set when no posture check is undecided.
 */
export interface EndpointSets {
  readonly sure: BitSet;
  readonly possible: BitSet;
}

/** One rule in one direction: peers that may, or must not, open connections, and the endpoints that they connect to. */
export interface Flow {
  /** Unique in the account, and stable from image to image. */
  readonly id: string;
  /** The rule. Absent for a flow of an unguarded route. */
  readonly by?: { readonly policy: Policy; readonly rule: Rule };
  /** True for the opposite direction of a bidirectional rule: from its destinations to its sources. */
  readonly reverse: boolean;
  readonly drop: boolean;
  /** Sides whose groups also cover temporary peers. Only in flows of drop rules. */
  readonly temporarySides: readonly ('from' | 'to')[];
  readonly traffic: Traffic;
  readonly trafficKey: string;
  readonly from: EndpointSets;
  readonly to: EndpointSets;
  /** Ids of the groups, or of the single object, by which the rule names each side. */
  readonly fromNames: readonly string[];
  readonly toNames: readonly string[];
}

/** What a flow accepts or drops, and by which rule. An unguarded route has no rule and accepts everything. */
export interface FlowEffect {
  readonly policy?: { readonly id: string; readonly name: string };
  readonly rule?: { readonly id: string; readonly name: string };
  readonly action: RuleAction;
  readonly protocol: Protocol;
  /** Empty: all ports. */
  readonly ports: readonly Interval[];
}

/** Returns the effect of a flow, as responses and maps show it. */
export function effectOf({ by, drop }: Flow): FlowEffect {
  if (by === undefined) return { action: 'accept', protocol: 'all', ports: [] };
  const { policy, rule } = by;
  return {
    policy: { id: policy.id, name: policy.name },
    rule: { id: rule.id, name: rule.name },
    action: drop ? 'drop' : 'accept',
    protocol: rule.protocol,
    ports: rule.ports,
  };
}

/**
 * Returns one side of a flow. Property names are written out, because a computed name takes ten times as long and maps
 * call this very often.
 */
export function sideOf(flow: Flow, side: 'from' | 'to'): EndpointSets {
  return side === 'from' ? flow.from : flow.to;
}

/**
 * Returns the endpoints that are included for certain, or also those possibly included. Property names are written out,
 * as in `sideOf`.
 */
export function endpointsOf(extent: EndpointSets, which: keyof EndpointSets): BitSet {
  return which === 'sure' ? extent.sure : extent.possible;
}

/** Inputs from which flows are compiled. */
export interface FlowInput {
  readonly endpoints: Endpoints;
  readonly groups: PersistentMap<Membership>;
  readonly live: BitSet;
  readonly postures: PersistentMap<EvaluatedPosture>;
}

/** Returns the flows of a policy, an empty list when it is disabled or permits no traffic. */
export function flowsOfPolicy(policy: Policy, input: FlowInput): readonly Flow[] {
  if (!policy.enabled) return [];
  const passing = passingOf(policy.postures, input);
  return policy.rules
    .filter(({ enabled }) => enabled)
    .flatMap((rule) => flowsOfRule(policy, rule, passing, input))
    .filter(({ from, to }) => !isEmptyBits(from.possible) && !isEmptyBits(to.possible));
}

/**
 * Returns the flow that lets receivers use a route without access control groups. Empty when no receiver, or the route
 * itself, takes part.
 */
export function flowsOfRoute(
  id: string,
  groups: readonly string[],
  destination: RoutedDestination,
  input: FlowInput,
): readonly Flow[] {
  const at = input.endpoints.slots.get(id);
  const receivers = intersectBits(destination.receivers ?? noBits, input.live);
  const to = intersectBits(at === undefined ? noBits : bitsOf([at]), input.live);
  if (isEmptyBits(receivers) || isEmptyBits(to)) return [];
  const traffic = { traffic: allTraffic, trafficKey: trafficKey(allTraffic) };
  const common = { id, reverse: false, drop: false, temporarySides: [], ...traffic, fromNames: groups, toNames: [id] };
  return [{ ...common, from: certain(receivers), to: certain(to) }];
}

/** Whether two flows have the same rule, traffic and endpoints. */
export function equalFlows(a: Flow, b: Flow): boolean {
  return (
    a === b ||
    (a.by?.policy === b.by?.policy &&
      a.by?.rule === b.by?.rule &&
      a.trafficKey === b.trafficKey &&
      equalTexts(a.temporarySides, b.temporarySides) &&
      equalEndpointSets(a.from, b.from) &&
      equalEndpointSets(a.to, b.to) &&
      equalTexts(a.fromNames, b.fromNames) &&
      equalTexts(a.toNames, b.toNames))
  );
}

/** Returns the flow at a position of the list. Throws `RangeError` when there is none. */
export function flowAt(flows: readonly Flow[], index: number): Flow {
  const flow = flows[index];
  if (flow === undefined) throw new RangeError(`there are ${flows.length} flows, none at ${index}`);
  return flow;
}

/** Whether both contain the same endpoints. */
export function equalEndpointSets(a: EndpointSets, b: EndpointSets): boolean {
  return equalBits(a.sure, b.sure) && equalBits(a.possible, b.possible);
}

function flowsOfRule(policy: Policy, rule: Rule, passing: EndpointSets | undefined, input: FlowInput): readonly Flow[] {
  const { endpoints, live } = input;
  const isDrop = rule.action === 'drop';
  const temporaryOf = (side: Rule['sources']) => (isDrop ? intersectBits(temporaryPeersOf(side, input), live) : noBits);
  const [temporarySources, temporaryDestinations] = [temporaryOf(rule.sources), temporaryOf(rule.destinations)];
  const sources = uniteBits(intersectBits(membersOf(rule.sources, input), live), temporarySources);
  const destinations = uniteBits(intersectBits(membersOf(rule.destinations, input), live), temporaryDestinations);
  const reached = intersectBits(uniteBits(destinations, guardedBy(rule.destinations, input)), live);
  const traffic = trafficOf(rule);
  const common = {
    by: { policy, rule },
    drop: isDrop,
    traffic,
    trafficKey: trafficKey(traffic),
  };
  const [from, to] = [namesOf(rule.sources), namesOf(rule.destinations)];
  const forward: Flow = {
    id: [policy.id, rule.key, 'forward'].join('\0'),
    ...common,
    reverse: false,
    temporarySides: sidesWith(temporarySources, temporaryDestinations),
    from: restrictToPassing(certain(intersectBits(sources, endpoints.byType.peer)), passing),
    to: certain(reached),
    fromNames: from,
    toNames: to,
  };
  if (!rule.bidirectional) return [forward];
  const backward: Flow = {
    id: [policy.id, rule.key, 'reverse'].join('\0'),
    ...common,
    reverse: true,
    temporarySides: sidesWith(temporaryDestinations, temporarySources),
    from: certain(intersectBits(destinations, endpoints.byType.peer)),
    to: restrictPeersToPassing(certain(sources), passing, endpoints),
    fromNames: to,
    toNames: from,
  };
  return [forward, backward];
}

function membersOf({ groups, one }: RuleSide, { endpoints, groups: known }: FlowInput): BitSet {
  const at = one === undefined ? undefined : endpoints.slots.get(one);
  return uniteBits(at === undefined ? noBits : bitsOf([at]), ...groups.map((id) => known.get(id)?.members ?? noBits));
}

function temporaryPeersOf({ groups }: RuleSide, { groups: known }: FlowInput): BitSet {
  return uniteBits(...groups.map((id) => known.get(id)?.temporaryPeers ?? noBits));
}

function sidesWith(from: BitSet, to: BitSet): Flow['temporarySides'] {
  return [...(isEmptyBits(from) ? [] : ['from' as const]), ...(isEmptyBits(to) ? [] : ['to' as const])];
}

function guardedBy({ groups }: RuleSide, { groups: known }: FlowInput): BitSet {
  return uniteBits(...groups.map((id) => known.get(id)?.guarded ?? noBits));
}

function namesOf({ groups, one }: RuleSide): readonly string[] {
  return one === undefined ? groups : [...groups, one];
}

/** Returns the peers that pass all checks, or `undefined` when there are no checks. No peer passes a deleted check. */
function passingOf(postures: readonly string[], input: FlowInput): EndpointSets | undefined {
  if (postures.length === 0) return undefined;
  return postures
    .map((id): EndpointSets => input.postures.get(id) ?? certain(noBits))
    .reduce((all, next) => restrictToPassing(all, next));
}

function certain(bits: BitSet): EndpointSets {
  return { sure: bits, possible: bits };
}

function restrictToPassing(extent: EndpointSets, passing: EndpointSets | undefined): EndpointSets {
  if (passing === undefined) return extent;
  const sure = intersectBits(extent.sure, passing.sure);
  const possible = intersectBits(extent.possible, passing.possible);
  return equalBits(sure, possible) ? certain(sure) : { sure, possible };
}

/** Removes peers that do not pass. Resources and proxies remain, because checks apply only to peers. */
function restrictPeersToPassing(
  extent: EndpointSets,
  passing: EndpointSets | undefined,
  endpoints: Endpoints,
): EndpointSets {
  if (passing === undefined) return extent;
  const others = subtractBits(extent.sure, endpoints.byType.peer);
  const { sure, possible } = restrictToPassing(extent, passing);
  const united = uniteBits(sure, others);
  return sure === possible ? certain(united) : { sure: united, possible: uniteBits(possible, others) };
}

function equalTexts(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((text, at) => text === b[at]));
}
