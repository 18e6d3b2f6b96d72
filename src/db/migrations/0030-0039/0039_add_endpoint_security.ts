// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0039_add_endpoint_security';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // What products of endpoint security say about a peer, by id of the integration: what is wrong with it, or an empty text.
  'alter table peer_status add column verdicts jsonb',
  // A row an integration whose product is asked about peers. It decides about them from its first complete sync on; while
  // `untrusted` is set, no verdict of it counts and no peer of its groups is let in. `devices` is how many the last
  // complete sync found, `doubted` how many a later one found that waits for an approval because it lost so many.
  `create table endpoint_security (
    account_id text not null,
    integration_id text not null,
    decides boolean not null default false,
    untrusted text,
    devices int,
    doubted int,
    last_synced_at timestamptz,
    failures int not null default 0,
    last_error text,
    last_error_at timestamptz,
    reported boolean not null default false,
    next_at timestamptz,
    tried_revision bigint,
    primary key (account_id, integration_id),
    foreign key (account_id, integration_id) references objects (account_id, id) on delete cascade
  )`,
  'grant select, insert, update, delete on endpoint_security to heddle_app',
  'alter table endpoint_security enable row level security',
  `create policy account on endpoint_security to heddle_app
    using (account_id = (select current_setting('heddle.account', true)))
    with check (account_id = (select current_setting('heddle.account', true)))`,
];
