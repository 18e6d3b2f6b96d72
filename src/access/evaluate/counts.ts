import type { Access } from '../ruleset/access.ts';
import { countAccessiblePeers } from './neighbours.ts';
import { touchedPeers } from './touched.ts';

/** Cached counts, by image. */
const counted = new WeakMap<Access, Map<string, number>>();

/** Returns the number of peers to which a peer may certainly open a connection. Counted once per image. */
export function accessibleCount(access: Access, peer: string): number {
  const counts = counted.get(access) ?? new Map<string, number>();
  counted.set(access, counts);
  const known = counts.get(peer);
  if (known !== undefined) return known;
  const count = countAccessiblePeers(access, peer);
  counts.set(peer, count);
  return count;
}

/** Copies the counts of an image to the image that was updated from it, without the counts that may have changed. */
export function reuseCounts(before: Access, after: Access): void {
  const counts = counted.get(before);
  if (counts === undefined || before === after) return;
  const kept = new Map(counts);
  for (const peer of touchedPeers(before, after)) kept.delete(peer);
  for (const peer of kept.keys()) if (!after.endpoints.slots.has(peer)) kept.delete(peer);
  counted.set(after, kept);
}
