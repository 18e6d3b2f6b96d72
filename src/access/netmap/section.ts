import { sha256 } from '../../lib/node-pure.ts';
import { compareTexts } from '../evaluate/named.ts';

/** One thing that a map says, written once for all maps that say it. */
export interface Entry {
  /** Unique within its section, the same from map to map. */
  readonly id: string;
  /** JSON. */
  readonly text: string;
  /** Equal for equal text: four numbers of 32 bits. */
  readonly digest: Digest;
  /** Of a set: its members, so that a change can be sent as the members that differ. */
  readonly members?: readonly string[];
}

export type Digest = readonly [number, number, number, number];

/** Entries of one sort in the order of their ids. Equal sections of one image are the same value wherever that is cheap. */
export type Section = readonly Entry[];

/** What differs in a section. */
export interface SectionChange {
  readonly put: readonly Entry[];
  readonly remove: readonly string[];
  /** Sets that stay, with the members that came and went. */
  readonly edit: readonly {
    readonly id: string;
    readonly add: readonly string[];
    readonly remove: readonly string[];
  }[];
}

/** Nothing. */
export const noEntries: Section = [];

/** Entries in the order of their ids. */
export function inOrder(entries: Section): Section {
  return entries.length === 0 ? noEntries : [...entries].sort((a, b) => compareTexts(a.id, b.id));
}

/** Writes an entry. */
export function writeEntry(id: string, value: object): Entry {
  const text = JSON.stringify(value);
  return { id, text, digest: digestOf(text) };
}

/** The digest of a text. */
export function digestOf(text: string): Digest {
  const hash = sha256(text);
  const word = (at: number): number => Number.parseInt(hash.slice(at * 8, at * 8 + 8), 16) | 0;
  return [word(0), word(1), word(2), word(3)];
}

const hexes = new WeakMap<Digest, string>();

/** The first half of a digest as text. */
export function hexOf(digest: Digest): string {
  const known = hexes.get(digest);
  if (known !== undefined) return known;
  const hex = [digest[0], digest[1]].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  hexes.set(digest, hex);
  return hex;
}

/** Whether both digests are the same. */
export function sameDigest(a: Digest, b: Digest): boolean {
  return a === b || (a[0] === b[0] && a[1] === b[1] && a[2] === b[2] && a[3] === b[3]);
}

/** Whether both say the same. */
export function sameEntry(a: Entry, b: Entry): boolean {
  return a === b || sameDigest(a.digest, b.digest);
}

/** Writes a set of ids; they are in order. */
export function writeSet(id: string, members: readonly string[]): Entry {
  return { ...writeEntry(id, { id, peers: members }), members };
}

/** Both sections as one; of an entry that both have, that of the second. */
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

/** What has to be done to one section to get the other; `undefined` when nothing has. */
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

/** The members that came and went; `undefined` when saying the set again is as short. */
function changeOfSet({ members: before }: Entry, { members: after }: Entry) {
  if (before === undefined || after === undefined) return undefined;
  const [add, remove] = [without(after, before), without(before, after)];
  return add.length + remove.length < after.length ? { add, remove } : undefined;
}

function without(some: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others);
  return some.filter((id) => !known.has(id));
}
