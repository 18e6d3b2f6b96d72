// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0030_add_sealing';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // How secrets are sealed, in one row: in which form, and a known text by which servers see whether they have the key.
  // Without a row no server of an earlier release ever wrote here, and the newest form is the only one.
  `create table sealing (
    one boolean primary key default true check (one),
    form text not null,
    probe text
  )`,
  "insert into sealing (form) select 'unbound' where exists (select from accounts)",
  'grant select on sealing to heddle_app',
];
