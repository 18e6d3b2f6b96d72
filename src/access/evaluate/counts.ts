import type { Access } from '../ruleset/access.ts';
import { countAccessiblePeers } from './neighbours.ts';
import { touchedPeers } from './touched.ts';

/** What was counted already, by the image that it holds for. */
const counted = new WeakMap<Access, Map<string, number>>();

/** To how many peers a peer may surely open a connection; counted once for each image. */
export function accessibleCount(access: Access, peer: string): number {
  const counts = counted.get(access) ?? new Map<string, number>();
  counted.set(access, counts);
  const known = counts.get(peer);
  if (known !== undefined) return known;
  const count = countAccessiblePeers(access, peer);
  counts.set(peer, count);
  return count;
}

/** Keeps what was counted for an image and holds for the one carried on from it. */
export function reuseCounts(before: Access, after: Access): void {
  const counts = counted.get(before);
  if (counts === undefined || before === after) return;
  const kept = new Map(counts);
  for (const peer of touchedPeers(before, after)) kept.delete(peer);
  for (const peer of kept.keys()) if (!after.endpoints.slots.has(peer)) kept.delete(peer);
  counted.set(after, kept);
}
