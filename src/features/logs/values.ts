import { keyOf } from './count-slices.ts';
import type { Report } from './ingest.ts';
import type { Listing } from './listings.ts';

/** The values of the records of a report, as far as they are listed. */
export interface Values {
  /** The key of a value; `undefined` when it is not listed. */
  keep(field: string, value: string): number | undefined;
  /** The key of a value of which there can be few only. */
  always(field: string, value: string): number;
  /** The values that the list needs. */
  values(): Report['values'];
}

/** Gathers the values of a report. */
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
