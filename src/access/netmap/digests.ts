import type { BitSet } from '../../lib/bits/bit-set.ts';
import type { Entry } from './section.ts';

/**
 * Sums of the digests of lists of peers. After `listsBeforeCaching` lists, the sums of all subsets of each eight
 * neighbouring slots are cached, so that a list of thousands of peers takes only some hundred steps.
 */
export interface Digests {
  /**
   * For each block of eight slots: five numbers for each of its 256 subsets, the number of entries and the four sums.
   */
  readonly sums: (Int32Array | undefined)[];
  requestCount: number;
}

/** Returns the entry at a slot, or undefined if the slot is not in the list. */
type EntryAt = (slot: number) => Entry | undefined;

/** Number of lists that are summed entry by entry before sums are cached. */
const listsBeforeCaching = 64;

/** Copies cached sums, without the blocks of the changed slots. */
export function reuseDigests(from: Digests | undefined, changed: Iterable<number>): Digests {
  const sums = from === undefined ? [] : [...from.sums];
  for (const slot of changed) if (slot >= 0) sums[slot >>> 3] = undefined;
  return { sums, requestCount: 0 };
}

/** Returns the digest of the list of these slots. It equals the digest of a `Listing` of the same entries. */
export function digestOfSlots(digests: Digests, slots: BitSet, entryAt: EntryAt): string {
  digests.requestCount += 1;
  const keep = digests.requestCount > listsBeforeCaching;
  let [count, a, b, c, d] = [0, 0, 0, 0, 0];
  for (let word = 0; word < slots.length; word++) {
    const bits = slots[word] ?? 0;
    if (bits === 0) continue;
    for (let part = 0; part < 4; part++) {
      const chosen = (bits >>> (part * 8)) & 0xff;
      if (chosen === 0) continue;
      const block = word * 4 + part;
      const sums = digests.sums[block] ?? (keep ? cacheSums(digests, block, entryAt) : undefined);
      if (sums !== undefined) {
        const at = chosen * 5;
        count += sums[at] ?? 0;
        a = (a + (sums[at + 1] ?? 0)) | 0;
        b = (b + (sums[at + 2] ?? 0)) | 0;
        c = (c + (sums[at + 3] ?? 0)) | 0;
        d = (d + (sums[at + 4] ?? 0)) | 0;
        continue;
      }
      for (let left = chosen; left !== 0; left &= left - 1) {
        const digest = entryAt(block * 8 + 31 - Math.clz32(left & -left))?.digest;
        if (digest === undefined) continue;
        count += 1;
        a = (a + digest[0]) | 0;
        b = (b + digest[1]) | 0;
        c = (c + digest[2]) | 0;
        d = (d + digest[3]) | 0;
      }
    }
  }
  return `${count} ${a} ${b} ${c} ${d}`;
}

/** Computes and caches the sums of all subsets of a block of eight slots. Empty slots add nothing. */
function cacheSums({ sums }: Digests, block: number, entryAt: EntryAt): Int32Array {
  const kept = new Int32Array(256 * 5);
  for (let chosen = 1; chosen < 256; chosen++) {
    const rest = (chosen & (chosen - 1)) * 5;
    const entry = entryAt(block * 8 + 31 - Math.clz32(chosen & -chosen));
    kept[chosen * 5] = (kept[rest] ?? 0) + (entry === undefined ? 0 : 1);
    for (let part = 0; part < 4; part++)
      kept[chosen * 5 + 1 + part] = ((kept[rest + 1 + part] ?? 0) + (entry?.digest[part] ?? 0)) | 0;
  }
  sums[block] = kept;
  return kept;
}
