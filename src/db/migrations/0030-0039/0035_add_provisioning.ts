// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0035_add_provisioning';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // When an integration last took over what its provider says: a fact that makes no revision.
  `create table integration_syncs (
    account_id text not null,
    integration_id text not null,
    last_synced_at timestamptz not null,
    primary key (account_id, integration_id),
    foreign key (account_id, integration_id) references objects (account_id, id) on delete cascade
  )`,
  'grant select, insert, update, delete on integration_syncs to heddle_app',
  'alter table integration_syncs enable row level security',
  `create policy account on integration_syncs to heddle_app
    using (account_id = (select current_setting('heddle.account', true)))
    with check (account_id = (select current_setting('heddle.account', true)))`,
  // By its token an integration is found without knowing its account.
  `insert into directory (account_id, kind, value, subject_id)
  select account_id, 'scim-token', derived ->> 'token_hash', id from objects
  where kind = 'ScimIntegration' and derived ->> 'token_hash' is not null
  on conflict do nothing`,
];
