// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0007_add_event_index';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // Streams of events ask for what happened since a revision.
  'create index audit_events_revision on audit_events (account_id, revision)',
];
