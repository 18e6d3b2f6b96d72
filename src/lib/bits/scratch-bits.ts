import { type BitSet, noBits } from './bit-set.ts';

const setsPerChunk = 64;

/**
 * Pool of temporary sets. Node allocates each larger typed array outside its heap, which takes several times as long as
 * filling it. Here many sets share one array (measured: comparing two large accounts takes a third of the time).
 */
export class ScratchBits {
  readonly #words: number;
  /** All sets created so far. Clearing one is faster than allocating a new one. */
  readonly #sets: BitSet[] = [];
  #taken = 0;

  /** Creates a pool of sets for numbers below `limit`. */
  constructor(limit: number) {
    this.#words = (limit + 31) >>> 5;
  }

  /** Returns an empty set, valid until the next `releaseAll`. */
  take(): BitSet {
    if (this.#taken === this.#sets.length) this.#addChunk();
    const set = this.#sets[this.#taken] ?? noBits;
    this.#taken += 1;
    return set.fill(0);
  }

  #addChunk(): void {
    const chunk = new Int32Array(setsPerChunk * this.#words);
    for (let nth = 0; nth < setsPerChunk; nth++)
      this.#sets.push(chunk.subarray(nth * this.#words, (nth + 1) * this.#words));
  }

  /** Returns all sets to the pool. */
  releaseAll(): void {
    this.#taken = 0;
  }
}
