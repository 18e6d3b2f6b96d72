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
    for (const key of gripped(access, drop)) {
      const known = gathered.get(key);
      if (known === undefined) gathered.set(key, [drop]);
      else known.push(drop);
    }
  }
  return gathered;
}

/** Whether some of the traffic of an accepting flow is dropped. */
export function isHeld(access: Access, { trafficKey: key }: Flow, drops: readonly Flow[]): boolean {
  return drops.some((drop) => isSweeping(drop) || gripped(access, drop).includes(key));
}

/**
 * What dropping flows do to traffic that is accepted: it is let through in pieces, each where none of certain flows names
 * an end.
 */
export function cutByDrops(traffic: Traffic, drops: readonly Flow[]): readonly (readonly Flow[])[] {
  const whole: Flow[] = [];
  const partial: Flow[] = [];
  for (const drop of drops) (gripOf(drop.traffic, traffic) === 'whole' ? whole : partial).push(drop);
  const shared = partial.map((drop) => intersectIntervals(traffic, drop.traffic));
  // What no drop is about passes to all that are left.
  if (subtractIntervals(traffic, joinIntervals(shared.flat())).length > 0) return [whole];
  const { pieces, parts } = cutTraffic(shared);
  return pieces.map((_, piece) => [...whole, ...partial.filter((_, at) => parts[at]?.includes(piece))]);
}

/** By the key of its traffic: the keys of the accepted traffic that a drop is about. */
type Grips = Map<string, readonly string[]>;

const known = new WeakMap<
  Access['flows'],
  { readonly accepted: ReadonlyMap<string, Traffic>; readonly grips: Grips }
>();

/** Remembered with an image, because every end of it asks about the same few kinds of traffic. */
function gripped({ flows }: Access, { traffic, trafficKey: key }: Flow): readonly string[] {
  let image = known.get(flows);
  if (image === undefined) {
    const accepts = flows.filter(({ drop }) => !drop);
    image = { accepted: new Map(accepts.map((flow) => [flow.trafficKey, flow.traffic])), grips: new Map() };
    known.set(flows, image);
  }
  const present = image.grips.get(key);
  if (present !== undefined) return present;
  const keys = [...image.accepted].filter(([, accepted]) => gripOf(traffic, accepted) !== 'none').map(([name]) => name);
  image.grips.set(key, keys);
  return keys;
}

/** How much of accepted traffic a dropping flow is about. */
function gripOf(drop: Traffic, accepted: Traffic): 'none' | 'part' | 'whole' {
  const shared = intersectIntervals(accepted, drop);
  if (shared.length === 0) return 'none';
  return subtractIntervals(accepted, shared).length === 0 ? 'whole' : 'part';
}
