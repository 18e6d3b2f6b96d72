import { sha256 } from '../../lib/node-pure.ts';
import { compareTexts } from '../evaluate/named.ts';

/** One item of a map's list, written once for all maps that contain it. */
export interface Entry {
  /** Unique within its section, and stable from map to map. */
  readonly id: string;
  /** The item as JSON. */
  readonly text: string;
  /** Equal for equal text. Four 32-bit numbers. */
  readonly digest: Digest;
  /** Members of a peer set, so that a change can be sent as the members that differ. Absent for other entries. */
  readonly members?: readonly string[];
}

export type Digest = readonly [number, number, number, number];

/** Entries of one list, sorted by id. Equal sections of one image are the same value where that is cheap to ensure. */
export type Section = readonly Entry[];

/** Change of a section. */
export interface SectionChange {
  readonly put: readonly Entry[];
  readonly remove: readonly string[];
  /** Peer sets that remain, with the members that were added and removed. */
  readonly edit: readonly {
    readonly id: string;
    readonly add: readonly string[];
    readonly remove: readonly string[];
  }[];
}

/** An empty section. */
export const noEntries: Section = [];

/** Sorts entries by id. */
export function sortEntries(entries: Section): Section {
  return entries.length === 0 ? noEntries : [...entries].sort((a, b) => compareTexts(a.id, b.id));
}

/** Writes a value as an entry. */
export function writeEntry(id: string, value: object): Entry {
  const text = JSON.stringify(value);
  return { id, text, digest: digestOf(text) };
}

/** Returns the digest of a text: the first 128 bits of its SHA-256. */
export function digestOf(text: string): Digest {
  const hash = sha256(text);
  const word = (at: number): number => Number.parseInt(hash.slice(at * 8, at * 8 + 8), 16) | 0;
  return [word(0), word(1), word(2), word(3)];
}

const hexes = new WeakMap<Digest, string>();

/** Returns the first half of a digest in hexadecimal (16 characters). */
export function hexOf(digest: Digest): string {
  const known = hexes.get(digest);
  if (known !== undefined) return known;
  const hex = [digest[0], digest[1]].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  hexes.set(digest, hex);
  return hex;
}

/** Whether two digests are equal. */
export function sameDigest(a: Digest, b: Digest): boolean {
  return a === b || (a[0] === b[0] && a[1] === b[1] && a[2] === b[2] && a[3] === b[3]);
}

/** Whether two entries have the same text, judged by their digests. */
export function sameEntry(a: Entry, b: Entry): boolean {
  return a === b || sameDigest(a.digest, b.digest);
}

/** Writes a peer set as an entry. `members` must be sorted. */
export function writeSet(id: string, members: readonly string[]): Entry {
  return { ...writeEntry(id, { id, peers: members }), members };
}

/** Merges two sections. Where both have an entry with the same id, the entry of `b` wins. */
export function joinSections(a: Section, b: Section): Section {
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a;
  const joined: Entry[] = [];
  let at = 0;
  for (const entry of b) {
    for (let next = a[at]; next !== undefined && next.id < entry.id; next = a[++at]) joined.push(next);
    if (a[at]?.id === entry.id) at += 1;
    joined.push(entry);
  }
  for (let next = a[at]; next !== undefined; next = a[++at]) joined.push(next);
  return joined;
}

/** Returns the change that turns one section into another, or `undefined` when they are equal. */
export function changeOfSection(before: Section, after: Section): SectionChange | undefined {
  if (before === after) return undefined;
  const [put, remove, edit]: [Entry[], string[], SectionChange['edit'][number][]] = [[], [], []];
  let at = 0;
  for (const entry of after) {
    if (before[at] === entry) {
      at += 1;
      continue;
    }
    for (let next = before[at]; next !== undefined && next.id < entry.id; next = before[++at]) remove.push(next.id);
    const old = before[at];
    if (old?.id !== entry.id) {
      put.push(entry);
      continue;
    }
    at += 1;
    if (sameEntry(old, entry)) continue;
    const change = changeOfSet(old, entry);
    if (change === undefined) put.push(entry);
    else edit.push({ id: entry.id, ...change });
  }
  for (const { id } of before.slice(at)) remove.push(id);
  return put.length + remove.length + edit.length === 0 ? undefined : { put, remove, edit };
}

/** Returns the members that were added and removed, or `undefined` when writing the whole set again is as short. */
function changeOfSet({ members: before }: Entry, { members: after }: Entry) {
  if (before === undefined || after === undefined) return undefined;
  const [add, remove] = [without(after, before), without(before, after)];
  return add.length + remove.length < after.length ? { add, remove } : undefined;
}

function without(some: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others);
  return some.filter((id) => !known.has(id));
}
