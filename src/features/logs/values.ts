import { hashKeyOf } from './count-slices.ts';
import type { Report } from './ingest.ts';
import type { ListedValues } from './listings.ts';

/** Collects the listed values of the records of a report. */
export interface ValueCollector {
  /** Returns the key of a value, `undefined` when the value is not listed. */
  addIfListed(field: string, value: string): number | undefined;
  /** Returns the key of a value of a field that can have few values only. Such values are always listed. */
  addAlways(field: string, value: string): number;
  /** Returns the values that must be written to the list. */
  values(): Report['values'];
}

/** Creates a collector for the values of one report. */
export function createValueCollector(listing: ListedValues): ValueCollector {
  const keys = new Map<string, number | undefined>();
  const values = new Map<string, Report['values'][number]>();
  const want = (field: string, key: number, value: string): number => {
    if (listing.mustWrite(field, key)) values.set(`${field} ${key}`, { field, key, value });
    return key;
  };
  return {
    addIfListed(field, value) {
      const name = `${field} ${value}`;
      if (keys.has(name)) return keys.get(name);
      const key = hashKeyOf(value);
      const kept = listing.ensureListed(field, key) ? want(field, key, value) : undefined;
      keys.set(name, kept);
      return kept;
    },
    addAlways: (field, value) => want(field, hashKeyOf(value), value),
    values: () => [...values.values()],
  };
}
