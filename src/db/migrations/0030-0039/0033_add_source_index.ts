// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0033_add_source_index';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // What a source deleted within the last hour is counted before it deletes more.
  'create index revisions_source on revisions (account_id, source_id, created_at) where source_id is not null',
];
