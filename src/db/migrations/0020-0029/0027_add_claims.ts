// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0027_add_claims';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // Grows whenever what a source claims changes, so that a commit planned on other claims is refused.
  'alter table accounts add column claim_sequence bigint not null default 0',
  // When the claims of a push lapse, and whether that was announced. Those of sources that a server runs do not.
  'alter table sources add column claim_until timestamptz',
  'alter table sources add column claim_warned boolean not null default false',
];
