import { intersectIntervals, joinIntervals, subtractIntervals } from '../../lib/bits/intervals.ts';
import type { Access } from '../ruleset/access.ts';
import { type Flow, flowAt } from '../ruleset/flows.ts';
import { allTraffic, type Traffic, trafficKey } from './traffic.ts';
import { partitionTraffic } from './traffic-partition.ts';

const allKey = trafficKey(allTraffic);

/** Whether a dropping flow leaves nothing between its ends, whatever is accepted. */
export function isDenyAll({ trafficKey: key }: Flow): boolean {
  return key === allKey;
}

/** The dropping flows that are about some of the traffic of accepting ones, by the key of that; those that deny all left out. */
export function gatherDrops(access: Access, drops: readonly Flow[]): ReadonlyMap<string, readonly Flow[]> {
  const gathered = new Map<string, Flow[]>();
  for (const drop of drops) {
    if (isDenyAll(drop)) continue;
    for (const key of keysOverlappedBy(access, drop)) {
      const known = gathered.get(key);
      if (known === undefined) gathered.set(key, [drop]);
      else known.push(drop);
    }
  }
  return gathered;
}

/** Whether some of the traffic of an accepting flow is dropped, by drops that do not deny all. */
export function isHeld(access: Access, { trafficKey: key }: Flow, drops: readonly Flow[]): boolean {
  return drops.some((drop) => !isDenyAll(drop) && keysOverlappedBy(access, drop).includes(key));
}

/**
 * What dropping flows do to traffic that is accepted: it is let through in pieces, each where none of certain flows names
 * an end.
 */
export function cutByDrops(
  access: Access,
  { traffic, trafficKey: key }: Flow,
  drops: readonly Flow[],
): readonly (readonly Flow[])[] {
  const { cuts } = overlapsOf(access);
  const asked = [key, ...drops.map((drop) => drop.trafficKey)].join('|');
  const pieces = cuts.get(asked) ?? cutTimes(traffic, drops);
  cuts.set(asked, pieces);
  return pieces.map((piece) => piece.map((at) => flowAt(drops, at)));
}

/** The pieces by the places of the drops in their list. */
function cutTimes(traffic: Traffic, drops: readonly Flow[]): readonly (readonly number[])[] {
  const whole: number[] = [];
  const partial: number[] = [];
  for (const [at, drop] of drops.entries()) (overlapOf(drop.traffic, traffic) === 'whole' ? whole : partial).push(at);
  const shared = partial.map((at) => intersectIntervals(traffic, drops[at]?.traffic ?? []));
  // What no drop is about passes to all that are left.
  if (subtractIntervals(traffic, joinIntervals(shared.flat())).length > 0) return [whole];
  const { pieces, parts } = partitionTraffic(shared);
  return pieces.map((_, piece) => [...whole, ...partial.filter((_, at) => parts[at]?.includes(piece))]);
}

/** What is known about the traffic of an image: what every end asks for, of the same few kinds. */
interface Overlaps {
  readonly accepted: ReadonlyMap<string, Traffic>;
  /** By the key of its traffic: the keys of the accepted traffic that a drop is about. */
  readonly overlapping: Map<string, readonly string[]>;
  /** By the keys of accepted traffic and of drops: the places of the drops of each piece. */
  readonly cuts: Map<string, readonly (readonly number[])[]>;
}

const known = new WeakMap<Access['flows'], Overlaps>();

function overlapsOf({ flows }: Access): Overlaps {
  const present = known.get(flows);
  if (present !== undefined) return present;
  const accepts = flows.filter(({ drop }) => !drop);
  const accepted = new Map(accepts.map((flow) => [flow.trafficKey, flow.traffic]));
  const overlaps = { accepted, overlapping: new Map(), cuts: new Map() };
  known.set(flows, overlaps);
  return overlaps;
}

function keysOverlappedBy(access: Access, { traffic, trafficKey: key }: Flow): readonly string[] {
  const { accepted, overlapping } = overlapsOf(access);
  const present = overlapping.get(key);
  if (present !== undefined) return present;
  const keys = [...accepted].filter(([, some]) => overlapOf(traffic, some) !== 'none').map(([name]) => name);
  overlapping.set(key, keys);
  return keys;
}

/** How much of accepted traffic a dropping flow is about. */
function overlapOf(drop: Traffic, accepted: Traffic): 'none' | 'part' | 'whole' {
  const shared = intersectIntervals(accepted, drop);
  if (shared.length === 0) return 'none';
  return subtractIntervals(accepted, shared).length === 0 ? 'whole' : 'part';
}
