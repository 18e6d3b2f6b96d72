// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0003_add_ownership';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // Part of the object's image: break-glass values with their end, and the keys it had before.
  `alter table objects add column overrides jsonb not null default '[]'`,
  `alter table objects add column aliases jsonb not null default '[]'`,
  // The source that states this membership allows no elements of others in it.
  `alter table declared add column exclusive boolean not null default false`,
  // Claims of a source that were not applied: keys, and units that others state differently.
  `alter table sources add column wanted jsonb not null default '{}'`,
  // Time of the last request for a reconcile, and time of the request that was handled last.
  `alter table sources add column requested_at timestamptz`,
  `alter table sources add column handled_at timestamptz`,
  `alter table plans add column approved_by jsonb`,
  `alter table plans add column approved_at timestamptz`,
  `create table idempotency_keys (
    account_id text not null,
    key text not null,
    request_hash text not null,
    status int,
    answer jsonb,
    created_at timestamptz not null,
    primary key (account_id, key)
  )`,
  'grant select, insert, update, delete on idempotency_keys to heddle_app',
  'alter table idempotency_keys enable row level security',
  `create policy account on idempotency_keys to heddle_app
    using (account_id = (select current_setting('heddle.account', true)))
    with check (account_id = (select current_setting('heddle.account', true)))`,
];
