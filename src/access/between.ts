import { hasBit } from '../lib/bit-set.ts';
import type { Access } from './access.ts';
import { lineFrom, trafficWith } from './line.ts';
import { noTraffic, type Traffic } from './traffic.ts';

/** Traffic that passes for sure, and traffic that passes or may pass, depending on what nobody knows. */
export interface Passing {
  readonly sure: Traffic;
  readonly possible: Traffic;
}

/** What one end may open to another: nothing when one of them takes no part, or when they are the same. */
export function trafficBetween(access: Access, from: string, to: string): Passing {
  const [source, target] = [access.ends.places.get(from), access.ends.places.get(to)];
  if (source === undefined || target === undefined || source === target || !hasBit(access.ends.of.peer, source))
    return { sure: noTraffic, possible: noTraffic };
  return trafficWith(lineFrom(access, source), target);
}
