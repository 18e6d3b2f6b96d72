import { hasBit, subtractBits } from '../../lib/bits/bit-set.ts';
import { neighbourhoodOf } from '../evaluate/neighbours.ts';
import type { AccessImage } from '../ruleset/access.ts';
import { expiredIn, netmapBuilderOf, peersIn } from './netmap-builder.ts';
import { writePeerSet } from './peer-set.ts';
import { noEntries, type Section } from './section.ts';

/**
 * Returns the peers that may open connections to a proxy, as other maps list them, sorted by id. Peers whose login has
 * expired are left out.
 */
export function peersReachingProxy(access: AccessImage, proxy: string): Section {
  const at = access.endpoints.slots.get(proxy);
  if (at === undefined || !hasBit(access.endpoints.byType.proxy, at)) return noEntries;
  const builder = netmapBuilderOf(access);
  return writePeerSet(peersIn(builder, subtractBits(neighbourhoodOf(access, at).neighbours, expiredIn(builder))));
}
