// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0016_add_feed_terms';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // The numbers of the pieces of texts by which a record is found that no list of values leads to.
  'alter table proxy_log add column terms int[]',
  'alter table traffic_log add column terms int[]',
  'create index proxy_log_terms on proxy_log using gin (terms)',
  'create index traffic_log_terms on traffic_log using gin (terms)',
  // Beginnings of ids are among the terms.
  'drop index proxy_log_id',
];
