// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0031_add_proved_addresses';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // The user who proved that the address is theirs. Programs that do not know the column give the address to other users
  // without touching it, so it counts only while it is the user of the row.
  'alter table credentials add column proved_user text',
];
