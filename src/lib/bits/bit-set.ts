/**
 * A set of small non-negative integers, 32 per word. Missing words count as empty, so sets of different lengths can be
 * combined. By convention a set is not changed once it is shared; changes create a new set.
 */
export type BitSet = Int32Array;

/** The empty set. */
export const noBits: BitSet = new Int32Array(0);

/** Returns the set of the given numbers. */
export function bitsOf(numbers: Iterable<number>): BitSet {
  const list = [...numbers];
  const set = new Int32Array(list.reduce((longest, number) => Math.max(longest, (number >>> 5) + 1), 0));
  for (const number of list) setBit(set, number);
  return set;
}

/** Adds a number to a set under construction. The set must be long enough for it. */
export function setBit(set: BitSet, number: number): void {
  set[number >>> 5] = (set[number >>> 5] ?? 0) | (1 << number);
}

/** Checks whether the number is in the set. */
export function hasBit(set: BitSet, number: number): boolean {
  return ((set[number >>> 5] ?? 0) & (1 << number)) !== 0;
}

/** Adds all numbers of `more` to a set under construction. The target must be long enough for them. */
export function addBits(target: BitSet, more: BitSet): void {
  for (let at = 0; at < more.length; at++) target[at] = (target[at] ?? 0) | (more[at] ?? 0);
}

/** Adds all numbers of several sets to a set under construction. The target must be long enough for them. */
export function addAllBits(target: BitSet, sets: readonly BitSet[]): void {
  let nth = 0;
  // Handles four sets per pass, because most of the time is spent on reading and writing the target.
  for (; nth + 4 <= sets.length; nth += 4) {
    const [a, b] = [sets[nth] ?? noBits, sets[nth + 1] ?? noBits];
    const [c, d] = [sets[nth + 2] ?? noBits, sets[nth + 3] ?? noBits];
    const shortest = Math.min(a.length, b.length, c.length, d.length);
    for (let at = 0; at < shortest; at++)
      target[at] = (target[at] ?? 0) | (a[at] ?? 0) | (b[at] ?? 0) | (c[at] ?? 0) | (d[at] ?? 0);
    for (const set of [a, b, c, d])
      for (let at = shortest; at < set.length; at++) target[at] = (target[at] ?? 0) | (set[at] ?? 0);
  }
  for (; nth < sets.length; nth++) addBits(target, sets[nth] ?? noBits);
}

/** Removes all numbers of `fewer` from a set under construction. */
export function dropBits(target: BitSet, fewer: BitSet): void {
  const length = Math.min(target.length, fewer.length);
  for (let at = 0; at < length; at++) target[at] = (target[at] ?? 0) & ~(fewer[at] ?? 0);
}

/**
 * Adds the numbers that both `a` and `b` contain to a set under construction. The target must be long enough for them.
 */
export function addCommonBits(target: BitSet, a: BitSet, b: BitSet): void {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const word = (a[at] ?? 0) & (b[at] ?? 0);
    if (word !== 0) target[at] = (target[at] ?? 0) | word;
  }
}

/** Returns the union of the sets. */
export function uniteBits(...sets: readonly BitSet[]): BitSet {
  const longest = sets.reduce((most, set) => (set.length > most.length ? set : most), noBits);
  const united = longest.slice();
  for (const set of sets) if (set !== longest) addBits(united, set);
  return united;
}

/** Returns the intersection of two sets. */
export function intersectBits(a: BitSet, b: BitSet): BitSet {
  const common = (a.length <= b.length ? a : b).slice();
  const other = a.length <= b.length ? b : a;
  for (let at = 0; at < common.length; at++) common[at] = (common[at] ?? 0) & (other[at] ?? 0);
  return common;
}

/** Returns the numbers of `a` that are not in `b`. */
export function subtractBits(a: BitSet, b: BitSet): BitSet {
  const rest = a.slice();
  dropBits(rest, b);
  return rest;
}

/** Returns the symmetric difference: the numbers that are in exactly one of the two sets. */
export function differingBits(a: BitSet, b: BitSet): BitSet {
  const [long, short] = a.length >= b.length ? [a, b] : [b, a];
  const differing = long.slice();
  for (let at = 0; at < short.length; at++) differing[at] = (differing[at] ?? 0) ^ (short[at] ?? 0);
  return differing;
}

/** Returns the number of elements of the set. */
export function countBits(set: BitSet): number {
  let count = 0;
  for (let at = 0; at < set.length; at++) if (set[at] !== 0) count += countOnes(set[at] ?? 0);
  return count;
}

/** Returns how many numbers are in all three sets. */
export function countCommonBits(a: BitSet, b: BitSet, c: BitSet): number {
  const length = Math.min(a.length, b.length, c.length);
  let count = 0;
  for (let at = 0; at < length; at++) {
    const word = (a[at] ?? 0) & (b[at] ?? 0) & (c[at] ?? 0);
    if (word !== 0) count += countOnes(word);
  }
  return count;
}

/** Checks whether the sets have a number in common. */
export function haveCommonBits(a: BitSet, b: BitSet): boolean {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) if (((a[at] ?? 0) & (b[at] ?? 0)) !== 0) return true;
  return false;
}

/** Checks whether the set contains all numbers of `some`. */
export function hasAllBits(set: BitSet, some: BitSet): boolean {
  for (let at = 0; at < some.length; at++) if (((some[at] ?? 0) & ~(set[at] ?? 0)) !== 0) return false;
  return true;
}

/** Checks whether the set is empty. */
export function isEmptyBits(set: BitSet): boolean {
  for (let at = 0; at < set.length; at++) if (set[at] !== 0) return false;
  return true;
}

/** Checks whether both sets contain the same numbers. */
export function equalBits(a: BitSet, b: BitSet): boolean {
  if (a === b) return true;
  const length = Math.max(a.length, b.length);
  for (let at = 0; at < length; at++) if ((a[at] ?? 0) !== (b[at] ?? 0)) return false;
  return true;
}

/** Returns the numbers of the set, in ascending order. */
export function numbersIn(set: BitSet): readonly number[] {
  const numbers: number[] = [];
  for (let at = 0; at < set.length; at++) {
    for (let word = set[at] ?? 0; word !== 0; word &= word - 1) {
      numbers.push((at << 5) + 31 - Math.clz32(word & -word));
    }
  }
  return numbers;
}

function countOnes(word: number): number {
  let ones = word - ((word >>> 1) & 0x55555555);
  ones = (ones & 0x33333333) + ((ones >>> 2) & 0x33333333);
  return Math.imul((ones + (ones >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
