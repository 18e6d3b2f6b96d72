import { addBits, type BitSet, bitsOf, dropBits, hasBit, noBits } from '../../lib/bits/bit-set.ts';
import { mergeIntervals, subtractIntervals } from '../../lib/bits/intervals.ts';
import type { AccessImage } from '../ruleset/access.ts';
import type { EndpointSets } from '../ruleset/flows.ts';
import { noTraffic, type Traffic } from './traffic.ts';

/** Endpoints that one flow accepts or drops for a peer. */
export interface PeerFlow extends EndpointSets {
  readonly traffic: Traffic;
}

/** All flows that decide what a peer may open connections to, before drops are weighed against accepts. */
export interface PeerFlows {
  readonly accepts: readonly PeerFlow[];
  readonly drops: readonly PeerFlow[];
  /** Guarded routes that the peer does not receive. They are closed whatever the policies are. */
  readonly closed: BitSet;
}

/** Returns the flows that apply to a peer as the source of connections. */
export function flowsFromPeer(access: AccessImage, at: number): PeerFlows {
  const [accepts, drops]: [PeerFlow[], PeerFlow[]] = [[], []];
  for (const { from, to, drop, traffic } of access.flows) {
    if (!hasBit(from.possible, at)) continue;
    const sure = hasBit(from.sure, at) ? to.sure : noBits;
    (drop ? drops : accepts).push({ traffic, sure, possible: to.possible });
  }
  return { accepts, drops, closed: withheldRoutes(access, at) };
}

/**
 * Weighs drops against accepts; drops win. `sure` is certainly accepted and cannot be dropped. `possible` may be
 * accepted and is not certainly dropped.
 */
export function weigh({ accepts, drops, closed }: PeerFlows): EndpointSets {
  const [sure, possible] = [united(accepts, 'sure'), united(accepts, 'possible')];
  for (const drop of drops) {
    dropBits(sure, drop.possible);
    dropBits(possible, drop.sure);
  }
  dropBits(sure, closed);
  dropBits(possible, closed);
  return { sure, possible };
}

/**
 * Traffic that certainly passes (`sure`), and traffic that passes or may pass, depending on unknown facts (`possible`).
 */
export interface PassingTraffic {
  readonly sure: Traffic;
  readonly possible: Traffic;
}

/**
 * Returns the traffic that one endpoint may open to another. Nothing when one of them is not live or does not exist, or
 * when they are the same.
 */
export function trafficBetween(access: AccessImage, from: string, to: string): PassingTraffic {
  const [source, target] = [access.endpoints.slots.get(from), access.endpoints.slots.get(to)];
  const nothing = { sure: noTraffic, possible: noTraffic };
  if (source === undefined || target === undefined || source === target) return nothing;
  const { accepts, drops, closed } = flowsFromPeer(access, source);
  if (hasBit(closed, target)) return nothing;
  const named = (layers: readonly PeerFlow[], which: keyof EndpointSets) =>
    mergeIntervals(layers.filter((layer) => hasBit(layer[which], target)).flatMap(({ traffic }) => traffic));
  return {
    sure: subtractIntervals(named(accepts, 'sure'), named(drops, 'possible')),
    possible: subtractIntervals(named(accepts, 'possible'), named(drops, 'sure')),
  };
}

/** Returns the guarded routes that a peer does not receive, whatever the policies are. */
export function withheldRoutes({ guardedRoutes }: AccessImage, at: number): BitSet {
  const closed = guardedRoutes.filter(({ receivers }) => !hasBit(receivers, at)).map(({ slot }) => slot);
  return closed.length === 0 ? noBits : bitsOf(closed);
}

/** Returns the peers that do not receive a guarded route, whatever the policies are. */
export function peersWithoutRoute({ guardedRoutes, endpoints }: AccessImage, at: number): BitSet {
  const guardedRoute = guardedRoutes.find(({ slot }) => slot === at);
  if (guardedRoute === undefined) return noBits;
  const others = endpoints.byType.peer.slice();
  dropBits(others, guardedRoute.receivers);
  return others;
}

/** Returns a new set, which the caller may modify. */
function united(layers: readonly PeerFlow[], which: keyof EndpointSets): BitSet {
  const set: BitSet = new Int32Array(layers.reduce((longest, layer) => Math.max(longest, layer[which].length), 0));
  for (const layer of layers) addBits(set, layer[which]);
  return set;
}
