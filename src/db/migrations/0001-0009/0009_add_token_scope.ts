// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0009_add_token_scope';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // Such a token reads and plans; it writes nothing.
  'alter table tokens add column plan_only boolean not null default false',
];
