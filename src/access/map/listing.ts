import { changeOfSection, type Entry, joinSections, noEntries, type Section, type SectionChange } from './section.ts';

/** A list of a map: entries in the order of their ids, and what their digests add up to. */
export interface Listing {
  readonly entries: Section;
  readonly sum: Sum;
  /** Equal for equal lists, whatever server worked them out. */
  readonly digest: string;
}

/** What the digests of entries add up to, and how many they are: adding up is faster than hashing thousands again. */
type Sum = readonly [count: number, a: number, b: number, c: number, d: number];

/** Nothing. */
export const nothingListed: Listing = { entries: noEntries, ...digested([0, 0, 0, 0, 0]) };

/** Makes a list of entries that are in order. */
export function listed(entries: Section): Listing {
  if (entries.length === 0) return nothingListed;
  let [a, b, c, d] = [0, 0, 0, 0];
  for (const { digest } of entries) {
    a = (a + digest[0]) | 0;
    b = (b + digest[1]) | 0;
    c = (c + digest[2]) | 0;
    d = (d + digest[3]) | 0;
  }
  return { entries, ...digested([entries.length, a, b, c, d]) };
}

/** Both lists as one; of an entry that both have, that of the second. */
export function joinListings(a: Listing, b: Listing): Listing {
  if (a.entries.length === 0 || b.entries.length === 0) return a.entries.length === 0 ? b : a;
  const entries = joinSections(a.entries, b.entries);
  if (entries.length < a.entries.length + b.entries.length) return listed(entries);
  const add = (at: 1 | 2 | 3 | 4) => (a.sum[at] + b.sum[at]) | 0;
  return { entries, ...digested([entries.length, add(1), add(2), add(3), add(4)]) };
}

/**
 * A list without some entries and with others, which take the place of those of the same id; the same value when nothing is
 * other. Only few entries are looked at: what is far away in memory takes longest.
 */
export function editListing(listing: Listing, remove: Iterable<string>, put: Section): Listing {
  const edited = [...listing.entries];
  let { sum } = listing;
  const take = (at: number, id: string): number => {
    const old = edited[at];
    if (old?.id !== id) return 0;
    sum = addTo(sum, old, -1);
    return 1;
  };
  for (const id of remove) {
    const at = placeIn(edited, id);
    edited.splice(at, take(at, id));
  }
  for (const entry of put) {
    const at = placeIn(edited, entry.id);
    edited.splice(at, take(at, entry.id), entry);
    sum = addTo(sum, entry, 1);
  }
  const { entries } = listing;
  const isSame = edited.length === entries.length && edited.every((entry, at) => entry === entries[at]);
  return isSame ? listing : { entries: edited, ...digested(sum) };
}

/** What has to be done to one list to get the other; `undefined` when nothing has. */
export function changeOfListing(before: Listing, after: Listing): SectionChange | undefined {
  return before.digest === after.digest ? undefined : changeOfSection(before.entries, after.entries);
}

function digested(sum: Sum): Pick<Listing, 'sum' | 'digest'> {
  return { sum, digest: sum.join(' ') };
}

function addTo([count, a, b, c, d]: Sum, { digest }: Entry, times: 1 | -1): Sum {
  const add = (to: number, part: 0 | 1 | 2 | 3) => (to + times * digest[part]) | 0;
  return [count + times, add(a, 0), add(b, 1), add(c, 2), add(d, 3)];
}

/** Where an entry of this id is, or would be. */
function placeIn(section: Section, id: string): number {
  let [from, to] = [0, section.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((section[middle] as Entry).id < id) from = middle + 1;
    else to = middle;
  }
  return from;
}
