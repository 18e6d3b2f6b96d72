import {
  type BitSet,
  bitsOf,
  intersectBits,
  noBits,
  numbersIn,
  subtractBits,
  uniteBits,
} from '../../lib/bits/bit-set.ts';
import { agreeOnSlots, type Endpoints, idsAt, slotsInOrder } from '../ruleset/endpoints.ts';
import { changeOfSection, type Entry, type Section, type SectionChange, sameEntry } from './section.ts';

/**
 * Entries of peers and proxies as other maps list them, by slot. Filled on demand. Images share one value while no peer
 * changes.
 */
export interface PeerEntries {
  readonly endpoints: Endpoints;
  readonly entries: (Entry | undefined)[];
}

/** Set of peers as other maps list them. Written out only when it is sent: it may contain every peer of the account. */
export interface PeerSet {
  readonly peerEntries: PeerEntries;
  readonly slots: BitSet;
  /** Equal for equal sets of entries. */
  readonly digest: string;
}

/** Returns the entries of a peer set, in the order of their ids. */
export function writePeerSet({ peerEntries, slots }: Pick<PeerSet, 'peerEntries' | 'slots'>): Section {
  // `peersIn` filled `entries` for the whole set when it created the set.
  return slotsInOrder(peerEntries.endpoints, slots).map((slot) => peerEntries.entries[slot] as Entry);
}

/** Returns the change that turns one peer set into another, or `undefined` when they are equal. */
export function changeOfPeers(before: PeerSet, after: PeerSet): SectionChange | undefined {
  if (before.digest === after.digest) return undefined;
  const [old, peerEntries] = [before.peerEntries, after.peerEntries];
  if (!agreeOnSlots(old.endpoints, peerEntries.endpoints))
    return changeOfSection(writePeerSet(before), writePeerSet(after));
  const stay = old === peerEntries ? noBits : intersectBits(before.slots, after.slots);
  const others = numbersIn(stay).filter((slot) => !isSame(old.entries[slot], peerEntries.entries[slot]));
  const put = uniteBits(subtractBits(after.slots, before.slots), bitsOf(others));
  const remove = idsAt(old.endpoints, subtractBits(before.slots, after.slots));
  return { put: writePeerSet({ peerEntries, slots: put }), remove, edit: [] };
}

function isSame(a: Entry | undefined, b: Entry | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && sameEntry(a, b));
}
