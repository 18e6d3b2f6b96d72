import { type BitSet, hasBit, numbersIn } from './bit-set.ts';

/** Splits the numbers into classes that no set divides: each set contains either all numbers of a class or none. */
export function partition(among: BitSet, sets: Iterable<BitSet>): readonly (readonly number[])[] {
  const numbers = numbersIn(among);
  const classes = new Classes(numbers);
  for (const set of sets) classes.split(numbersIn(set).filter((number) => hasBit(among, number)));
  return classes.list(numbers);
}

/** Classes while they are being split, each with an index. There are never more classes than members. */
class Classes {
  readonly #classOf: Int32Array;
  readonly #sizes: Int32Array;
  readonly #hits: Int32Array;
  readonly #splitTo: Int32Array;
  #count = 1;

  constructor(numbers: readonly number[]) {
    this.#classOf = new Int32Array((numbers.at(-1) ?? -1) + 1);
    this.#sizes = new Int32Array(numbers.length + 1);
    this.#sizes[0] = numbers.length;
    this.#hits = new Int32Array(numbers.length + 1);
    this.#splitTo = new Int32Array(numbers.length + 1);
  }

  /**
   * Moves the given numbers out of their classes into new ones, except from classes that consist only of given numbers.
   */
  split(inside: readonly number[]): void {
    const touched: number[] = [];
    for (const number of inside) {
      const own = this.#classOf[number] ?? 0;
      if (this.#hits[own] === 0) touched.push(own);
      this.#hits[own] = (this.#hits[own] ?? 0) + 1;
    }
    for (const own of touched) {
      const hits = this.#hits[own] ?? 0;
      this.#hits[own] = 0;
      this.#splitTo[own] = own;
      if (hits === this.#sizes[own]) continue;
      this.#splitTo[own] = this.#count;
      this.#sizes[own] = (this.#sizes[own] ?? 0) - hits;
      this.#sizes[this.#count] = hits;
      this.#count += 1;
    }
    for (const number of inside) this.#classOf[number] = this.#splitTo[this.#classOf[number] ?? 0] ?? 0;
  }

  list(numbers: readonly number[]): readonly (readonly number[])[] {
    const classes = Array.from({ length: this.#count }, (): number[] => []);
    for (const number of numbers) classes[this.#classOf[number] ?? 0]?.push(number);
    return classes.filter((members) => members.length > 0);
  }
}
