import { type BitSet, dropBits, hasBit, numbersIn, setBit } from './bit-set.ts';

/**
 * Maps a chosen subset of numbers to consecutive positions, so that sets of which only this subset matters become
 * short.
 */
export interface BitProjection {
  /** Length of a projected set, in 32-bit words. */
  readonly wordCount: number;
  /** Returns the projection of a set to the chosen numbers. The result is cached for the lifetime of the set. */
  project(set: BitSet): BitSet;
  /**
   * Returns a copy of the set in which the chosen numbers are those of `projected`; all other numbers are unchanged.
   */
  replace(set: BitSet, projected: BitSet): BitSet;
}

/** Creates the projection to the numbers in `among`. */
export function createProjection(among: BitSet): BitProjection {
  const numbers = numbersIn(among);
  const words = (numbers.length + 31) >>> 5;
  const known = new WeakMap<BitSet, BitSet>();
  const projectOnce = (set: BitSet): BitSet => {
    const projected = new Int32Array(words);
    numbers.forEach((number, at) => {
      if (hasBit(set, number)) setBit(projected, at);
    });
    return projected;
  };
  return {
    wordCount: words,
    project(set) {
      const present = known.get(set);
      if (present !== undefined) return present;
      const projected = projectOnce(set);
      known.set(set, projected);
      return projected;
    },
    replace(set, projected) {
      const whole = new Int32Array(Math.max(set.length, among.length));
      whole.set(set);
      dropBits(whole, among);
      numbers.forEach((number, at) => {
        if (hasBit(projected, at)) setBit(whole, number);
      });
      return whole;
    },
  };
}
