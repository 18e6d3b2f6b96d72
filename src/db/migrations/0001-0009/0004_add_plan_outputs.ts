// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0004_add_plan_outputs';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // Values that are shown once, sealed; `false` when they were read.
  'alter table plans add column outputs jsonb',
];
