import { type BitSet, dropBits, hasBit, numbersIn, setBit } from './bit-set.ts';

/** Some numbers of many, moved together, so that sets which matter only there are short. */
export interface BitProjection {
  /** The length of sets seen through it, in words. */
  readonly words: number;
  /** What a set has of these numbers; remembered as long as the set lives. */
  project(set: BitSet): BitSet;
  /** A set with what was seen in place of what it has of these numbers. */
  replace(set: BitSet, projected: BitSet): BitSet;
}

/** A lens on these numbers. */
export function projectionOnto(among: BitSet): BitProjection {
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
    words,
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
