// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0006_add_leases';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // Who may run a loop, until when, and how often it changed hands. Times are the database's.
  `create table leases (
    account_id text not null,
    name text not null,
    owner text not null,
    until timestamptz not null,
    fence bigint not null,
    primary key (account_id, name)
  )`,
  'grant select, insert, update, delete on leases to heddle_app',
  'alter table leases enable row level security',
  `create policy account on leases to heddle_app
    using (account_id = (select current_setting('heddle.account', true)))
    with check (account_id = (select current_setting('heddle.account', true)))`,
  // No program has ever used these.
  'alter table sources drop column lease_owner, drop column lease_until, drop column fence',
  // Number of changes of the definition of a source, and time of the last hint that its content changed.
  'alter table sources add column generation bigint not null default 1, add column hinted_at timestamptz',
  // By which servers find the sources of all accounts.
  `insert into directory (account_id, kind, value, subject_id)
    select account_id, 'source', account_id || '/' || id, id from sources`,
];
