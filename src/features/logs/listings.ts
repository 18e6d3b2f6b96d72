import type { Database } from '../../db/database.ts';
import { readListed } from '../../db/logs/feed-read.ts';
import type { Feed } from '../../db/logs/feeds.ts';
import type { Report } from './ingest.ts';

// Values that many records share are listed, once for all of them: a part of one is looked for in the list, and the records
// are found by its key. What strangers make up, hosts, paths and addresses without end, must not make the lists endless:
// behind a limit values are not listed any more, and their records are found by terms.

/** Which values of an account's records are listed. */
export interface Listing {
  /** Whether a value is listed, or now will be. */
  has(field: string, key: number): boolean;
  /** Whether the list needs the value, because it is new or was not seen today. */
  wants(field: string, key: number): boolean;
  /** Marks these values as sent to the list. */
  noteListed(values: Report['values']): void;
}

/** How many values of a field are listed for an account; without a limit where there can be few only. */
export type ListedAtMost = Readonly<Record<string, number>>;

const usual: ListedAtMost = { slice: 5000, path: 5000, source_ip: 10_000, end: 10_000 };
/** For how many accounts this process knows what is listed. */
const keptAtMost = 200;

/** The lists of values. */
export interface Listings {
  of(feed: Feed, account: string): Promise<Listing>;
}

interface Kept {
  readonly day: string;
  readonly listing: Promise<Listing>;
}

/** Creates the knowledge of what is listed. It is read again every day: retention takes away what was not seen for long. */
export function createListings(database: Database, now: () => string, atMost: ListedAtMost = usual): Listings {
  const kept = new Map<string, Kept>();
  return {
    of(feed, account) {
      const name = `${feed.name} ${account}`;
      const day = now().slice(0, 10);
      const known = kept.get(name);
      const current = known?.day === day ? known : { day, listing: readListing(database, feed, account, day, atMost) };
      // The one that was used last is the last one to be forgotten.
      kept.delete(name);
      kept.set(name, current);
      for (const oldest of kept.keys()) {
        if (kept.size <= keptAtMost) break;
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
  atMost: ListedAtMost,
): Promise<Listing> {
  /** By field and key, whether the list was sent it today. */
  const fields = new Map<string, Map<number, boolean>>();
  const keysOf = (field: string): Map<number, boolean> => {
    const keys = fields.get(field) ?? new Map<number, boolean>();
    fields.set(field, keys);
    return keys;
  };
  for (const { field, key, today } of await readListed(database, feed, account, day)) keysOf(field).set(key, today);
  return {
    has(field, key) {
      const keys = keysOf(field);
      if (keys.has(key)) return true;
      if (keys.size >= (atMost[field] ?? Number.POSITIVE_INFINITY)) return false;
      keys.set(key, false);
      return true;
    },
    wants: (field, key) => keysOf(field).get(key) !== true,
    noteListed(values) {
      for (const { field, key } of values) keysOf(field).set(key, true);
    },
  };
}
