import { intersectIntervals, mergeIntervals, subtractIntervals } from '../../lib/bits/intervals.ts';
import type { AccessImage } from '../ruleset/access.ts';
import { type Flow, flowAt } from '../ruleset/flows.ts';
import { allTraffic, type Traffic, trafficKey } from './traffic.ts';
import { partitionTraffic } from './traffic-partition.ts';

const allTrafficKey = trafficKey(allTraffic);

/** Whether a dropping flow covers all traffic, so that nothing passes between its endpoints. */
export function isDenyAll({ trafficKey: key }: Flow): boolean {
  return key === allTrafficKey;
}

/**
 * Returns the dropping flows that overlap accepted traffic, by key of the accepted traffic. Flows that deny all traffic
 * are left out.
 */
export function gatherDrops(access: AccessImage, drops: readonly Flow[]): ReadonlyMap<string, readonly Flow[]> {
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

/** Whether a flow that does not deny all traffic drops some of the traffic of an accepting flow. */
export function isPartlyDropped(access: AccessImage, { trafficKey: key }: Flow, drops: readonly Flow[]): boolean {
  return drops.some((drop) => !isDenyAll(drop) && keysOverlappedBy(access, drop).includes(key));
}

/**
 * Cuts accepted traffic into pieces by the drops. Returns for each piece the dropping flows that cover it: the piece
 * passes to the endpoints that none of these flows names.
 */
export function cutByDrops(
  access: AccessImage,
  { traffic, trafficKey: key }: Flow,
  drops: readonly Flow[],
): readonly (readonly Flow[])[] {
  const { cuts } = overlapsOf(access);
  const asked = [key, ...drops.map((drop) => drop.trafficKey)].join('|');
  const pieces = cuts.get(asked) ?? cutTraffic(traffic, drops);
  cuts.set(asked, pieces);
  return pieces.map((piece) => piece.map((at) => flowAt(drops, at)));
}

/** Returns the pieces as positions of the drops in their list. */
function cutTraffic(traffic: Traffic, drops: readonly Flow[]): readonly (readonly number[])[] {
  const whole: number[] = [];
  const partial: number[] = [];
  for (const [at, drop] of drops.entries()) (overlapOf(drop.traffic, traffic) === 'whole' ? whole : partial).push(at);
  const shared = partial.map((at) => intersectIntervals(traffic, drops[at]?.traffic ?? []));
  // Traffic outside all partial drops passes to every endpoint that no whole drop names, so the other pieces add no
  // endpoint.
  if (subtractIntervals(traffic, mergeIntervals(shared.flat())).length > 0) return [whole];
  const { pieces, piecesByTraffic } = partitionTraffic(shared);
  return pieces.map((_, piece) => [...whole, ...partial.filter((_, at) => piecesByTraffic[at]?.includes(piece))]);
}

/** Cached overlaps of the traffic of an image. The flows of all endpoints use the same few kinds of traffic. */
interface Overlaps {
  readonly accepted: ReadonlyMap<string, Traffic>;
  /** Keys of the accepted traffic that a drop overlaps, by traffic key of the drop. */
  readonly overlapping: Map<string, readonly string[]>;
  /** Positions of the drops for each piece, by the keys of the accepted traffic and of the drops. */
  readonly cuts: Map<string, readonly (readonly number[])[]>;
}

const overlapsByFlows = new WeakMap<AccessImage['flows'], Overlaps>();

function overlapsOf({ flows }: AccessImage): Overlaps {
  const present = overlapsByFlows.get(flows);
  if (present !== undefined) return present;
  const accepts = flows.filter(({ drop }) => !drop);
  const accepted = new Map(accepts.map((flow) => [flow.trafficKey, flow.traffic]));
  const overlaps = { accepted, overlapping: new Map(), cuts: new Map() };
  overlapsByFlows.set(flows, overlaps);
  return overlaps;
}

function keysOverlappedBy(access: AccessImage, { traffic, trafficKey: key }: Flow): readonly string[] {
  const { accepted, overlapping } = overlapsOf(access);
  const present = overlapping.get(key);
  if (present !== undefined) return present;
  const keys = [...accepted].filter(([, some]) => overlapOf(traffic, some) !== 'none').map(([name]) => name);
  overlapping.set(key, keys);
  return keys;
}

/** Returns how much of the accepted traffic a dropping flow covers. */
function overlapOf(drop: Traffic, accepted: Traffic): 'none' | 'part' | 'whole' {
  const shared = intersectIntervals(accepted, drop);
  if (shared.length === 0) return 'none';
  return subtractIntervals(accepted, shared).length === 0 ? 'whole' : 'part';
}
