// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0028_add_sort_keys';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. Without a key a member stands where its id puts it. */
export const statements: readonly string[] = ['alter table object_refs add column sort_key text'];
