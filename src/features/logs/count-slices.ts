import { sha256 } from '../../lib/node-pure.ts';

/** Returns the number that stands for a text in indexes: 52 bits of its hash, which is a safe integer. */
export function hashKeyOf(text: string): number {
  return Number.parseInt(sha256(text).slice(0, 13), 16);
}

/** Key of the slice that contains all records. */
export const allRecordsSliceKey = hashKeyOf('all');

/** A slice: the values of a record that are counted, by name. All records with these values belong to it. */
export type Slice = Readonly<Record<string, string>>;

/** Returns the key of a slice. */
export function sliceKey(slice: Slice): number {
  return hashKeyOf(JSON.stringify(slice));
}

/**
 * Stands in a slice for any value that is not listed. It differs from every real value: hosts are in lower case, and
 * methods in upper case.
 */
export const unlistedValue = 'Any';

/**
 * Returns the keys of the slices in which a record of a slice is counted: the slice of all records, the slice itself,
 * each of its values alone, and the slices `more`.
 */
export function countedSliceKeys(slice: Slice, more: readonly Slice[]): readonly number[] {
  const alone = Object.entries(slice).flatMap(([name, value]) =>
    value === unlistedValue ? [] : [sliceKey({ [name]: value })],
  );
  return [...new Set([allRecordsSliceKey, sliceKey(slice), ...alone, ...more.map(sliceKey)])];
}
