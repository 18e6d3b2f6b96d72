// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0042_note_requests';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // The id of the HTTP request that led to it; null: none did, or an earlier release wrote it.
  'alter table revisions add column http_request text',
  'alter table audit_events add column http_request text',
];
