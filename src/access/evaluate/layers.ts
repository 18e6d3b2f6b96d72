import { addBits, type BitSet, bitsOf, dropBits, hasBit, noBits } from '../../lib/bits/bit-set.ts';
import { joinIntervals, subtractIntervals } from '../../lib/bits/intervals.ts';
import type { Access } from '../ruleset/access.ts';
import type { EndpointSets } from '../ruleset/flows.ts';
import { noTraffic, type Traffic } from './traffic.ts';

/** What a flow says about the ends that a peer reaches by it. */
export interface Layer extends EndpointSets {
  readonly traffic: Traffic;
}

/** Everything that is said about what a peer may open connections to, before drops are weighed against accepts. */
export interface Layers {
  readonly accepts: readonly Layer[];
  readonly drops: readonly Layer[];
  /** Guarded routes that are not handed to the peer, whatever policies say. */
  readonly closed: BitSet;
}

/** What is said about a peer as one that opens connections. */
export function layersFrom(access: Access, at: number): Layers {
  const [accepts, drops]: [Layer[], Layer[]] = [[], []];
  for (const { from, to, drop, traffic } of access.flows) {
    if (!hasBit(from.possible, at)) continue;
    const sure = hasBit(from.sure, at) ? to.sure : noBits;
    (drop ? drops : accepts).push({ traffic, sure, possible: to.possible });
  }
  return { accepts, drops, closed: withheldRoutes(access, at) };
}

/** Drops win: sure is what is surely accepted and can not be dropped, possible what may be accepted and is not surely dropped. */
export function weigh({ accepts, drops, closed }: Layers): EndpointSets {
  const [sure, possible] = [united(accepts, 'sure'), united(accepts, 'possible')];
  for (const drop of drops) {
    dropBits(sure, drop.possible);
    dropBits(possible, drop.sure);
  }
  dropBits(sure, closed);
  dropBits(possible, closed);
  return { sure, possible };
}

/** Traffic that passes for certain, and traffic that passes or may pass, depending on unknown facts. */
export interface PassingTraffic {
  readonly sure: Traffic;
  readonly possible: Traffic;
}

/** What one end may open to another: nothing when one of them takes no part, or when they are the same. */
export function trafficBetween(access: Access, from: string, to: string): PassingTraffic {
  const [source, target] = [access.endpoints.slots.get(from), access.endpoints.slots.get(to)];
  const nothing = { sure: noTraffic, possible: noTraffic };
  if (source === undefined || target === undefined || source === target) return nothing;
  const { accepts, drops, closed } = layersFrom(access, source);
  if (hasBit(closed, target)) return nothing;
  const named = (layers: readonly Layer[], which: keyof EndpointSets) =>
    joinIntervals(layers.filter((layer) => hasBit(layer[which], target)).flatMap(({ traffic }) => traffic));
  return {
    sure: subtractIntervals(named(accepts, 'sure'), named(drops, 'possible')),
    possible: subtractIntervals(named(accepts, 'possible'), named(drops, 'sure')),
  };
}

/** Guarded routes that are not handed to a peer, whatever policies say. */
export function withheldRoutes({ guardedRoutes }: Access, at: number): BitSet {
  const closed = guardedRoutes.filter(({ receivers }) => !hasBit(receivers, at)).map(({ slot }) => slot);
  return closed.length === 0 ? noBits : bitsOf(closed);
}

/** Peers to which a guarded route is not handed, whatever policies say. */
export function peersWithoutRoute({ guardedRoutes, endpoints }: Access, at: number): BitSet {
  const guardedRoute = guardedRoutes.find(({ slot }) => slot === at);
  if (guardedRoute === undefined) return noBits;
  const others = endpoints.of.peer.slice();
  dropBits(others, guardedRoute.receivers);
  return others;
}

/** A fresh set, which may be changed. */
function united(layers: readonly Layer[], which: keyof EndpointSets): BitSet {
  const set: BitSet = new Int32Array(layers.reduce((longest, layer) => Math.max(longest, layer[which].length), 0));
  for (const layer of layers) addBits(set, layer[which]);
  return set;
}
