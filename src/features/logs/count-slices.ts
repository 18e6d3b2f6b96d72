import { sha256 } from '../../lib/node-pure.ts';

/** The number by which a text is known in indexes: 52 bits of its hash, a safe integer. */
export function keyOf(text: string): number {
  return Number.parseInt(sha256(text).slice(0, 13), 16);
}

/** The slice of all records. */
export const allSlice = keyOf('all');

/** The values of a record that are counted, by name: its slice. */
export type Slice = Readonly<Record<string, string>>;

/** The number of a slice. */
export function sliceKey(slice: Slice): number {
  return keyOf(JSON.stringify(slice));
}

/** Stands in a slice for any value that is not listed. It can be none itself: hosts have no capitals, methods have no others. */
export const anyValue = 'Any';

/** The slices in which a record of a slice is counted: all, itself, and every value alone. */
export function partsOf(slice: Slice, more: readonly Slice[]): readonly number[] {
  const alone = Object.entries(slice).flatMap(([name, value]) =>
    value === anyValue ? [] : [sliceKey({ [name]: value })],
  );
  return [...new Set([allSlice, sliceKey(slice), ...alone, ...more.map(sliceKey)])];
}
