import { optional, time } from '../model/operation/fields.ts';
import { type Field, integer, list } from '../model/schema/field.ts';

const lastPage = 1_000_000_000;

/** The parameters by which a page of a log is chosen. */
export function pageFields({ usual, most, sizeDoc }: { usual: number; most: number; sizeDoc: string }) {
  return {
    page: integer({ doc: 'The page, from 1.', minimum: 1, maximum: lastPage, default: 1 }),
    page_size: integer({ doc: sizeDoc, minimum: 1, maximum: most, clamp: true, default: usual }),
  };
}

/** The moments between which records of a log lie. */
export function rangeFields(what: string) {
  return {
    start_date: optional(time({ doc: `Only what ${what} at this moment or later.` })),
    end_date: optional(time({ doc: `Only what ${what} at this moment or earlier.` })),
  };
}

/** What a page of a log answers around its records. */
export function pageOf<T>(record: Field<T>) {
  return {
    data: list(record, { doc: 'The records of the page.' }),
    page: integer({ doc: 'The page, from 1.' }),
    page_size: integer({ doc: 'How many records a page has.' }),
    total_records: integer({
      doc: 'How many records there are; exact up to 100,000, above it from hourly counts.',
    }),
    total_pages: integer({ doc: 'How many pages there are.' }),
  };
}
