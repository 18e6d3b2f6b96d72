import { addBits, type BitSet, bitsOf, dropBits, hasBit, noBits } from '../../lib/bits/bit-set.ts';
import { joinIntervals, subtractIntervals } from '../../lib/bits/intervals.ts';
import type { Access } from '../ruleset/access.ts';
import type { Extent } from '../ruleset/flows.ts';
import { noTraffic, type Traffic } from './traffic.ts';

/** What a flow says about the ends that a peer reaches by it. */
export interface Layer extends Extent {
  readonly traffic: Traffic;
}

/** Everything that is said about what a peer may open connections to, before drops are weighed against accepts. */
export interface Line {
  readonly accepts: readonly Layer[];
  readonly drops: readonly Layer[];
  /** Guarded routes that are not handed to the peer, whatever policies say. */
  readonly closed: BitSet;
}

/** What is said about a peer as one that opens connections. */
export function lineFrom(access: Access, at: number): Line {
  const [accepts, drops]: [Layer[], Layer[]] = [[], []];
  for (const { from, to, drop, traffic } of access.flows) {
    if (!hasBit(from.possible, at)) continue;
    const sure = hasBit(from.sure, at) ? to.sure : noBits;
    (drop ? drops : accepts).push({ traffic, sure, possible: to.possible });
  }
  return { accepts, drops, closed: closedGates(access, at) };
}

/** Drops win: sure is what is surely accepted and can not be dropped, possible what may be accepted and is not surely dropped. */
export function weigh({ accepts, drops, closed }: Line): Extent {
  const [sure, possible] = [united(accepts, 'sure'), united(accepts, 'possible')];
  for (const drop of drops) {
    dropBits(sure, drop.possible);
    dropBits(possible, drop.sure);
  }
  dropBits(sure, closed);
  dropBits(possible, closed);
  return { sure, possible };
}

/** Traffic that passes for sure, and traffic that passes or may pass, depending on what nobody knows. */
export interface Passing {
  readonly sure: Traffic;
  readonly possible: Traffic;
}

/** What one end may open to another: nothing when one of them takes no part, or when they are the same. */
export function trafficBetween(access: Access, from: string, to: string): Passing {
  const [source, target] = [access.ends.slots.get(from), access.ends.slots.get(to)];
  const nothing = { sure: noTraffic, possible: noTraffic };
  if (source === undefined || target === undefined || source === target) return nothing;
  const { accepts, drops, closed } = lineFrom(access, source);
  if (hasBit(closed, target)) return nothing;
  const named = (layers: readonly Layer[], which: keyof Extent) =>
    joinIntervals(layers.filter((layer) => hasBit(layer[which], target)).flatMap(({ traffic }) => traffic));
  return {
    sure: subtractIntervals(named(accepts, 'sure'), named(drops, 'possible')),
    possible: subtractIntervals(named(accepts, 'possible'), named(drops, 'sure')),
  };
}

/** Guarded routes that are not handed to a peer, whatever policies say. */
export function closedGates({ gates }: Access, at: number): BitSet {
  const closed = gates.filter(({ receivers }) => !hasBit(receivers, at)).map(({ slot }) => slot);
  return closed.length === 0 ? noBits : bitsOf(closed);
}

/** Peers to which a guarded route is not handed, whatever policies say. */
export function shutOut({ gates, ends }: Access, at: number): BitSet {
  const gate = gates.find(({ slot }) => slot === at);
  if (gate === undefined) return noBits;
  const others = ends.of.peer.slice();
  dropBits(others, gate.receivers);
  return others;
}

/** A fresh set, which may be changed. */
function united(layers: readonly Layer[], which: keyof Extent): BitSet {
  const set: BitSet = new Int32Array(layers.reduce((longest, layer) => Math.max(longest, layer[which].length), 0));
  for (const layer of layers) addBits(set, layer[which]);
  return set;
}
