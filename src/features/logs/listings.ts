import type { Database } from '../../db/database.ts';
import { readListedValues } from '../../db/logs/feed-read.ts';
import type { Feed } from '../../db/logs/feeds.ts';
import type { Report } from './ingest.ts';

// Values that many records share are listed, once for all of them. A search for a part of a value looks in the list,
// and finds the records by the key of the value. Strangers can invent any number of hosts, paths and addresses, which
// must not make the lists endless: above a limit, new values are not listed, and their records are found by terms.

/** The listed values of an account's records. */
export interface ListedValues {
  /** Returns whether a value is listed. Lists a new value if the limit of the field allows it. */
  ensureListed(field: string, key: number): boolean;
  /** Returns whether the value must be written to the list, because it is new or was not seen today. */
  mustWrite(field: string, key: number): boolean;
  /** Marks the values as written to the list. */
  noteListed(values: Report['values']): void;
}

/**
 * Maximum number of listed values of an account, by field. Fields that can have few values only are absent: they have
 * no limit.
 */
export type MaxListedValues = Readonly<Record<string, number>>;

const defaultMaxListed: MaxListedValues = { slice: 5000, path: 5000, source_ip: 10_000, end: 10_000 };
/** Maximum number of accounts whose listed values this process caches. */
const maxCachedAccounts = 200;

/** The listed values of all accounts, by feed and account. */
export interface ListedValuesCache {
  of(feed: Feed, account: string): Promise<ListedValues>;
}

interface CachedListing {
  readonly day: string;
  readonly listing: Promise<ListedValues>;
}

/**
 * Creates the cache of listed values. Each list is read again every day, because retention deletes values that have not
 * been seen for long.
 */
export function createListedValuesCache(
  database: Database,
  now: () => string,
  atMost: MaxListedValues = defaultMaxListed,
): ListedValuesCache {
  const kept = new Map<string, CachedListing>();
  return {
    of(feed, account) {
      const name = `${feed.name} ${account}`;
      const day = now().slice(0, 10);
      const known = kept.get(name);
      const current = known?.day === day ? known : { day, listing: readListing(database, feed, account, day, atMost) };
      // Moves the list to the end of the map, so that the least recently used one is evicted first.
      kept.delete(name);
      kept.set(name, current);
      for (const oldest of kept.keys()) {
        if (kept.size <= maxCachedAccounts) break;
        kept.delete(oldest);
      }
      current.listing.catch(() => kept.delete(name));
      return current.listing;
    },
  };
}

async function readListing(
  database: Database,
  feed: Feed,
  account: string,
  day: string,
  atMost: MaxListedValues,
): Promise<ListedValues> {
  /** Whether a key was written to the list today, by field and key. */
  const fields = new Map<string, Map<number, boolean>>();
  const keysOf = (field: string): Map<number, boolean> => {
    const keys = fields.get(field) ?? new Map<number, boolean>();
    fields.set(field, keys);
    return keys;
  };
  for (const { field, key, today } of await readListedValues(database, feed, account, day))
    keysOf(field).set(key, today);
  return {
    ensureListed(field, key) {
      const keys = keysOf(field);
      if (keys.has(key)) return true;
      if (keys.size >= (atMost[field] ?? Number.POSITIVE_INFINITY)) return false;
      keys.set(key, false);
      return true;
    },
    mustWrite: (field, key) => keysOf(field).get(key) !== true,
    noteListed(values) {
      for (const { field, key } of values) keysOf(field).set(key, true);
    },
  };
}
