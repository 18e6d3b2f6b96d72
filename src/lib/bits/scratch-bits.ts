import { type BitSet, noBits } from './bit-set.ts';

const chunkSets = 64;

/**
 * Room for sets that are needed for a moment. Node keeps each longer array outside its heap, which takes several times as
 * long as filling it; here many sets share one (measured: a difference of two large accounts in a third of the time).
 */
export class ScratchBits {
  readonly #words: number;
  /** All sets that were ever taken: to make one again takes longer than to empty it. */
  readonly #sets: BitSet[] = [];
  #taken = 0;

  /** Sets for numbers below `limit`. */
  constructor(limit: number) {
    this.#words = (limit + 31) >>> 5;
  }

  /** An empty set. It is good until the next `wipe`. */
  take(): BitSet {
    if (this.#taken === this.#sets.length) this.#makeMore();
    const set = this.#sets[this.#taken] ?? noBits;
    this.#taken += 1;
    return set.fill(0);
  }

  #makeMore(): void {
    const chunk = new Int32Array(chunkSets * this.#words);
    for (let nth = 0; nth < chunkSets; nth++)
      this.#sets.push(chunk.subarray(nth * this.#words, (nth + 1) * this.#words));
  }

  /** Gives all sets back. */
  wipe(): void {
    this.#taken = 0;
  }
}
