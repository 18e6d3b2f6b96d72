import { type BitSet, dropBits, hasBit, numbersIn, setBit } from './bit-set.ts';

/** Some numbers of many, moved together, so that sets which matter only there are short. */
export interface BitLens {
  /** The length of sets seen through it, in words. */
  readonly words: number;
  /** What a set has of these numbers; remembered as long as the set lives. */
  see(set: BitSet): BitSet;
  /** A set with what was seen in place of what it has of these numbers. */
  put(set: BitSet, seen: BitSet): BitSet;
}

/** A lens on these numbers. */
export function lensOn(among: BitSet): BitLens {
  const numbers = numbersIn(among);
  const words = (numbers.length + 31) >>> 5;
  const known = new WeakMap<BitSet, BitSet>();
  const look = (set: BitSet): BitSet => {
    const seen = new Int32Array(words);
    for (let at = 0; at < numbers.length; at++) if (hasBit(set, numbers[at] as number)) setBit(seen, at);
    return seen;
  };
  return {
    words,
    see(set) {
      const present = known.get(set);
      if (present !== undefined) return present;
      const seen = look(set);
      known.set(set, seen);
      return seen;
    },
    put(set, seen) {
      const whole = new Int32Array(Math.max(set.length, among.length));
      whole.set(set);
      dropBits(whole, among);
      for (const at of numbersIn(seen)) setBit(whole, numbers[at] as number);
      return whole;
    },
  };
}
