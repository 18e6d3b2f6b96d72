// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0032_note_plan_use';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // The request that applied a plan which changed nothing: what changes something has a revision that names its request.
  'alter table plans add column applied_request text',
];
