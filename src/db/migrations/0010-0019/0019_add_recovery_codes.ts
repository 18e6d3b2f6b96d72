// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0019_add_recovery_codes';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // SHA-256 of the unused recovery codes, which replace the app of a second factor.
  `alter table credentials add column recovery_codes jsonb not null default '[]'`,
  // A temporary peer does not reserve its key as long as it has not proved that it holds it.
  `update directory d set value = 'claim ' || o.id from objects o
    where d.kind = 'peer-key' and o.account_id = d.account_id and o.id = d.subject_id
      and o.derived -> 'temporary' = 'true' and coalesce(o.spec ->> 'signing_key', '') = ''`,
];
