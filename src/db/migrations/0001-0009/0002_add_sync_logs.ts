// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0002_add_sync_logs';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // What an integration did goes with it, also when a program deletes it that knows nothing of this table.
  `create table sync_logs (
    account_id text not null,
    integration_id text not null,
    id bigint not null,
    level text not null,
    timestamp timestamptz not null,
    message text not null,
    primary key (account_id, integration_id, id),
    foreign key (account_id, integration_id) references objects (account_id, id) on delete cascade
  )`,
  'grant select, insert, update, delete on sync_logs to heddle_app',
  'alter table sync_logs enable row level security',
  `create policy account on sync_logs to heddle_app
    using (account_id = (select current_setting('heddle.account', true)))
    with check (account_id = (select current_setting('heddle.account', true)))`,
];
