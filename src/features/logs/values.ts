import { keyOf } from './count-slices.ts';
import type { Report } from './ingest.ts';
import type { Listing } from './listings.ts';

/** Collects the listed values of the records of a report. */
export interface Values {
  /** Returns the key of a value, `undefined` when the value is not listed. */
  keep(field: string, value: string): number | undefined;
  /** Returns the key of a value of a field that can have few values only. Such values are always listed. */
  always(field: string, value: string): number;
  /** Returns the values that must be written to the list. */
  values(): Report['values'];
}

/** Creates a collector for the values of one report. */
export function gatherValues(listing: Listing): Values {
  const keys = new Map<string, number | undefined>();
  const values = new Map<string, Report['values'][number]>();
  const want = (field: string, key: number, value: string): number => {
    if (listing.wants(field, key)) values.set(`${field} ${key}`, { field, key, value });
    return key;
  };
  return {
    keep(field, value) {
      const name = `${field} ${value}`;
      if (keys.has(name)) return keys.get(name);
      const key = keyOf(value);
      const kept = listing.has(field, key) ? want(field, key, value) : undefined;
      keys.set(name, kept);
      return kept;
    },
    always: (field, value) => want(field, keyOf(value), value),
    values: () => [...values.values()],
  };
}
