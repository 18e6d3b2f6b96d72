import type { BitSet } from '../../lib/bits/bit-set.ts';
import { partition } from '../../lib/bits/partition.ts';
import type { AccessImage } from '../ruleset/access.ts';

/** Groups peers into classes. The peers of a class may open the same connections, in each of the images. */
export function groupEquivalentPeers(images: readonly AccessImage[], among: BitSet): readonly (readonly number[])[] {
  const sets = new Set<BitSet>();
  for (const { flows, guardedRoutes } of images) {
    for (const { from } of flows) sets.add(from.sure).add(from.possible);
    for (const { receivers } of guardedRoutes) sets.add(receivers);
  }
  return partition(among, sets);
}
