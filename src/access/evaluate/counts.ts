import type { AccessImage } from '../ruleset/access.ts';
import { countAccessiblePeers } from './neighbours.ts';
import { touchedPeers } from './touched.ts';

/** Cached counts, by image. */
const countsByImage = new WeakMap<AccessImage, Map<string, number>>();

/** Returns the number of peers to which a peer may certainly open a connection. Counted once per image. */
export function accessibleCount(access: AccessImage, peer: string): number {
  const counts = countsByImage.get(access) ?? new Map<string, number>();
  countsByImage.set(access, counts);
  const known = counts.get(peer);
  if (known !== undefined) return known;
  const count = countAccessiblePeers(access, peer);
  counts.set(peer, count);
  return count;
}

/** Copies the counts of an image to the image that was updated from it, without the counts that may have changed. */
export function reuseCounts(before: AccessImage, after: AccessImage): void {
  const counts = countsByImage.get(before);
  if (counts === undefined || before === after) return;
  const kept = new Map(counts);
  for (const peer of touchedPeers(before, after)) kept.delete(peer);
  for (const peer of kept.keys()) if (!after.endpoints.slots.has(peer)) kept.delete(peer);
  countsByImage.set(after, kept);
}
