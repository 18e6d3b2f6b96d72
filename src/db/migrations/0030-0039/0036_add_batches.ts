// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0036_add_batches';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // What waits is left until `look_at`, or until `look_behind` events are behind the cursor. Of a batch that was begun the
  // receiver took what is not in `batch_left`.
  `alter table deliveries
    add column look_at timestamptz,
    add column look_behind bigint,
    add column batch_left bigint[]`,
];
