import { compareTexts } from '../evaluate/named.ts';
import {
  changeOfSection,
  type Entry,
  joinSections,
  noEntries,
  type Section,
  type SectionChange,
  sameEntry,
} from './section.ts';

/** A list of a map: entries in the order of their ids, and the sum of their digests. */
export interface Listing {
  readonly entries: Section;
  readonly sum: Sum;
  /** Equal for equal lists, whichever server computed them. */
  readonly digest: string;
}

/** Number of entries, and the sums of their digests. Adding up is faster than hashing thousands of entries again. */
type Sum = readonly [count: number, a: number, b: number, c: number, d: number];

/** An empty list. */
export const emptyListing: Listing = { entries: noEntries, ...withDigest([0, 0, 0, 0, 0]) };

/** Makes a list of entries that are already in order. */
export function createListing(entries: Section): Listing {
  if (entries.length === 0) return emptyListing;
  let [a, b, c, d] = [0, 0, 0, 0];
  for (const { digest } of entries) {
    a = (a + digest[0]) | 0;
    b = (b + digest[1]) | 0;
    c = (c + digest[2]) | 0;
    d = (d + digest[3]) | 0;
  }
  return { entries, ...withDigest([entries.length, a, b, c, d]) };
}

/** Merges two lists. The entry of the second list wins when both have the same id. */
export function joinListings(a: Listing, b: Listing): Listing {
  if (a.entries.length === 0 || b.entries.length === 0) return a.entries.length === 0 ? b : a;
  const entries = joinSections(a.entries, b.entries);
  if (entries.length < a.entries.length + b.entries.length) return createListing(entries);
  const add = (at: 1 | 2 | 3 | 4) => (a.sum[at] + b.sum[at]) | 0;
  return { entries, ...withDigest([entries.length, add(1), add(2), add(3), add(4)]) };
}

/**
 * Returns a list without some entries and with others, which replace entries of the same id. Returns the same value
 * when nothing changes. Visits only a few entries, because memory access takes most of the time.
 */
export function editListing(listing: Listing, remove: Iterable<string>, put: Section): Listing {
  const { entries } = listing;
  const fresh = new Map(put.map((entry) => [entry.id, entry]));
  const cuts: ListingEdit[] = [];
  let { sum } = listing;
  for (const id of new Set([...remove, ...fresh.keys()])) {
    const at = findPosition(entries, id);
    const old = entries[at]?.id === id ? entries[at] : undefined;
    const entry = fresh.get(id);
    // An entry with equal content keeps its identity, so that it need not be compared again.
    if (old === entry || (old !== undefined && entry !== undefined && sameEntry(old, entry))) continue;
    if (old !== undefined) sum = addTo(sum, old, -1);
    if (entry !== undefined) sum = addTo(sum, entry, 1);
    cuts.push({ at, id, removedCount: old === undefined ? 0 : 1, entry });
  }
  return cuts.length === 0 ? listing : { entries: applyEdits(entries, cuts), ...withDigest(sum) };
}

/** An entry that is added, removed or replaced. */
interface ListingEdit {
  readonly at: number;
  readonly id: string;
  /** Number of old entries that are left out at this position. */
  readonly removedCount: 0 | 1;
  readonly entry: Entry | undefined;
}

function applyEdits(entries: Section, cuts: ListingEdit[]): Section {
  cuts.sort((a, b) => a.at - b.at || compareTexts(a.id, b.id));
  const edited: Entry[] = [];
  let from = 0;
  for (const { at, removedCount, entry } of cuts) {
    for (let old = entries[from]; from < at && old !== undefined; old = entries[++from]) edited.push(old);
    from += removedCount;
    if (entry !== undefined) edited.push(entry);
  }
  for (let old = entries[from]; old !== undefined; old = entries[++from]) edited.push(old);
  return edited;
}

/** Returns the change that turns one list into the other; `undefined` when they are equal. */
export function changeOfListing(before: Listing, after: Listing): SectionChange | undefined {
  return before.digest === after.digest ? undefined : changeOfSection(before.entries, after.entries);
}

function withDigest(sum: Sum): Pick<Listing, 'sum' | 'digest'> {
  return { sum, digest: sum.join(' ') };
}

function addTo([count, a, b, c, d]: Sum, { digest }: Entry, times: 1 | -1): Sum {
  const add = (to: number, part: 0 | 1 | 2 | 3) => (to + times * digest[part]) | 0;
  return [count + times, add(a, 0), add(b, 1), add(c, 2), add(d, 3)];
}

/** Returns the position of the entry with this id, or the position where it would be inserted. */
function findPosition(section: Section, id: string): number {
  let [from, to] = [0, section.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((section[middle]?.id ?? id) < id) from = middle + 1;
    else to = middle;
  }
  return from;
}
