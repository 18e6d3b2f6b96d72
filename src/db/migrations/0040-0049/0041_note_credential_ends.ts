// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0041_note_credential_ends';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // When the credentials of an integration end as the product says, when it was last asked, and with how many days left an
  // event reported it: 0 when the product refused them. `credential_basis` stands for the credentials that all this is about.
  `alter table endpoint_security
    add column credential_basis text,
    add column credential_checked_at timestamptz,
    add column credential_ends_at timestamptz,
    add column credential_warned int`,
];
