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

/** How other maps list each peer, by its slot; filled as it is needed, and one value while no peer changes. */
export interface PeerEntries {
  readonly endpoints: Endpoints;
  readonly entries: (Entry | undefined)[];
}

/** Peers as other maps list them. The list is written when it is sent: it may be as long as the account has peers. */
export interface PeerSet {
  readonly peerEntries: PeerEntries;
  readonly slots: BitSet;
  /** Equal for equal lists. */
  readonly digest: string;
}

/** The entries of the peers of a set, in the order of their ids. */
export function writePeerSet({ peerEntries, slots }: Pick<PeerSet, 'peerEntries' | 'slots'>): Section {
  // The book was filled for all of the set when the set was made.
  return slotsInOrder(peerEntries.endpoints, slots).map((slot) => peerEntries.entries[slot] as Entry);
}

/** What has to be done to one list to get the other; `undefined` when nothing has. */
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
