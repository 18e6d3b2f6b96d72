import type { BitSet } from './bit-set.ts';

const chunkSets = 64;

/**
 * Room for sets that are needed for a moment. Node keeps each longer array outside its heap, which takes several times as
 * long as filling it; here many sets share one (measured: a difference of two large accounts in a third of the time).
 */
export class ScratchBits {
  readonly #words: number;
  readonly #chunks: BitSet[] = [];
  #taken = 0;

  /** Sets for numbers below `limit`. */
  constructor(limit: number) {
    this.#words = (limit + 31) >>> 5;
  }

  /** An empty set. It is good until the next `wipe`. */
  take(): BitSet {
    const chunk = Math.floor(this.#taken / chunkSets);
    const at = (this.#taken % chunkSets) * this.#words;
    this.#taken += 1;
    this.#chunks[chunk] ??= new Int32Array(chunkSets * this.#words);
    return this.#chunks[chunk].subarray(at, at + this.#words).fill(0);
  }

  /** Gives all sets back. */
  wipe(): void {
    this.#taken = 0;
  }
}
