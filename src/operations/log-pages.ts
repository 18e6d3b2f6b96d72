import { optional, time } from '../model/operation/fields.ts';
import { type Field, integer, list } from '../model/schema/field.ts';

const maxPage = 1_000_000_000;

/** Returns the query parameters that select a page of a log. */
export function pageFields({ usual, most, sizeDoc }: { usual: number; most: number; sizeDoc: string }) {
  return {
    page: integer({ doc: 'The page, from 1.', minimum: 1, maximum: maxPage, default: 1 }),
    page_size: integer({ doc: sizeDoc, minimum: 1, maximum: most, clamp: true, default: usual }),
  };
}

/** Returns the query parameters that limit a log to a period. `what` completes the sentence `Only what …`. */
export function rangeFields(what: string) {
  return {
    start_date: optional(time({ doc: `Only what ${what} at this moment or later.` })),
    end_date: optional(time({ doc: `Only what ${what} at this moment or earlier.` })),
  };
}

/** Returns the members of a response with one page of a log. */
export function pageOf<T>(record: Field<T>) {
  return {
    data: list(record, { doc: 'The records of the page.' }),
    page: integer({ doc: 'The page, from 1.' }),
    page_size: integer({ doc: 'Number of records per page.' }),
    total_records: integer({
      doc: 'Number of records; exact up to 100,000, above that from hourly counts.',
    }),
    total_pages: integer({ doc: 'Number of pages.' }),
  };
}
