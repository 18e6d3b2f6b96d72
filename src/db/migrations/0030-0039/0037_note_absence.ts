// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0037_note_absence';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // Since when a peer is not connected, and since when it is again after it was offline for longer than a moment. Other
  // writes than those of its connection move neither, as they move `last_seen`.
  'alter table peer_status add column offline_since timestamptz, add column online_since timestamptz',
  // Whether an event says that it is offline. Only of ingress peers it is said.
  'alter table peer_status add column offline_reported boolean not null default false',
];
