import { type BitSet, hasBit, numbersIn } from './bit-set.ts';

/** Splits numbers into classes that none of the sets divides: each class is in a set as a whole or not at all. */
export function partition(among: BitSet, sets: Iterable<BitSet>): readonly (readonly number[])[] {
  const numbers = numbersIn(among);
  const classOf = new Int32Array((numbers.at(-1) ?? -1) + 1);
  const sizes = [numbers.length];
  for (const set of sets) split(classOf, sizes, among, set);
  const classes: number[][] = sizes.map(() => []);
  for (const number of numbers) classes[classOf[number] as number]?.push(number);
  return classes.filter((members) => members.length > 0);
}

/** Moves what is in the set out of every class that is not in it as a whole. */
function split(classOf: Int32Array, sizes: number[], among: BitSet, set: BitSet): void {
  const inside = numbersIn(set).filter((number) => hasBit(among, number));
  const hits = new Map<number, number>();
  for (const number of inside) {
    const own = classOf[number] as number;
    hits.set(own, (hits.get(own) ?? 0) + 1);
  }
  const split = new Map<number, number>();
  for (const [own, count] of hits) {
    if (count === sizes[own]) continue;
    split.set(own, sizes.length);
    sizes[own] = (sizes[own] as number) - count;
    sizes.push(count);
  }
  if (split.size === 0) return;
  for (const number of inside) {
    const own = classOf[number] as number;
    classOf[number] = split.get(own) ?? own;
  }
}
