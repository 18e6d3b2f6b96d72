import { intersectIntervals, joinIntervals, subtractIntervals } from '../lib/intervals.ts';
import type { Access } from './access.ts';
import type { Flow } from './flows.ts';
import { cutTraffic } from './pieces.ts';
import { allTraffic, type Traffic, trafficKey } from './traffic.ts';

const allKey = trafficKey(allTraffic);

/** Whether a dropping flow leaves nothing between its ends, whatever is accepted. */
export function isSweeping({ trafficKey: key }: Flow): boolean {
  return key === allKey;
}

/** The dropping flows that are about some of the traffic of accepting ones, by the key of that; sweeping ones left out. */
export function gatherDrops(access: Access, drops: readonly Flow[]): ReadonlyMap<string, readonly Flow[]> {
  const gathered = new Map<string, Flow[]>();
  for (const drop of drops) {
    if (isSweeping(drop)) continue;
    for (const key of keysGrippedBy(access, drop)) {
      const known = gathered.get(key);
      if (known === undefined) gathered.set(key, [drop]);
      else known.push(drop);
    }
  }
  return gathered;
}

/** Whether some of the traffic of an accepting flow is dropped, by drops that are not sweeping. */
export function isHeld(access: Access, { trafficKey: key }: Flow, drops: readonly Flow[]): boolean {
  return drops.some((drop) => !isSweeping(drop) && keysGrippedBy(access, drop).includes(key));
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
  const { cuts } = gripsOf(access);
  const asked = [key, ...drops.map((drop) => drop.trafficKey)].join('|');
  const places = cuts.get(asked) ?? cutTimes(traffic, drops);
  cuts.set(asked, places);
  return places.map((piece) => piece.map((at) => drops[at] as Flow));
}

/** The pieces by the places of the drops in their list. */
function cutTimes(traffic: Traffic, drops: readonly Flow[]): readonly (readonly number[])[] {
  const whole: number[] = [];
  const partial: number[] = [];
  for (const [at, drop] of drops.entries()) (gripOf(drop.traffic, traffic) === 'whole' ? whole : partial).push(at);
  const shared = partial.map((at) => intersectIntervals(traffic, drops[at]?.traffic ?? []));
  // What no drop is about passes to all that are left.
  if (subtractIntervals(traffic, joinIntervals(shared.flat())).length > 0) return [whole];
  const { pieces, parts } = cutTraffic(shared);
  return pieces.map((_, piece) => [...whole, ...partial.filter((_, at) => parts[at]?.includes(piece))]);
}

/** What is known about the traffic of an image: what every end asks for, of the same few kinds. */
interface Grips {
  readonly accepted: ReadonlyMap<string, Traffic>;
  /** By the key of its traffic: the keys of the accepted traffic that a drop is about. */
  readonly gripped: Map<string, readonly string[]>;
  /** By the keys of accepted traffic and of drops: the places of the drops of each piece. */
  readonly cuts: Map<string, readonly (readonly number[])[]>;
}

const known = new WeakMap<Access['flows'], Grips>();

function gripsOf({ flows }: Access): Grips {
  const present = known.get(flows);
  if (present !== undefined) return present;
  const accepts = flows.filter(({ drop }) => !drop);
  const accepted = new Map(accepts.map((flow) => [flow.trafficKey, flow.traffic]));
  const grips = { accepted, gripped: new Map(), cuts: new Map() };
  known.set(flows, grips);
  return grips;
}

function keysGrippedBy(access: Access, { traffic, trafficKey: key }: Flow): readonly string[] {
  const { accepted, gripped } = gripsOf(access);
  const present = gripped.get(key);
  if (present !== undefined) return present;
  const keys = [...accepted].filter(([, some]) => gripOf(traffic, some) !== 'none').map(([name]) => name);
  gripped.set(key, keys);
  return keys;
}

/** How much of accepted traffic a dropping flow is about. */
function gripOf(drop: Traffic, accepted: Traffic): 'none' | 'part' | 'whole' {
  const shared = intersectIntervals(accepted, drop);
  if (shared.length === 0) return 'none';
  return subtractIntervals(accepted, shared).length === 0 ? 'whole' : 'part';
}
