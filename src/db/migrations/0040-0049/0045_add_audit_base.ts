// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0045_add_audit_base';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // Up to which event the audit log of an account was deleted, and the place of the last deleted one that is a notice in the
  // stream of events. No row: nothing was deleted. Who deletes holds the row.
  `create table audit_base (
    account_id text not null primary key,
    event_id bigint not null default 0,
    notice_revision bigint not null default 0,
    notice_id bigint not null default 0
  )`,
  'grant select, insert, update, delete on audit_base to heddle_app',
  'alter table audit_base enable row level security',
  `create policy account on audit_base to heddle_app
    using (account_id = (select current_setting('heddle.account', true)))
    with check (account_id = (select current_setting('heddle.account', true)))`,
];
