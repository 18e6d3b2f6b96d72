// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0013_add_peering';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

const policy = (table: string): readonly string[] => [
  `grant select, insert, update, delete on ${table} to heddle_app`,
  `alter table ${table} enable row level security`,
  `create policy account on ${table} to heddle_app
    using (account_id = (select current_setting('heddle.account', true)))
    with check (account_id = (select current_setting('heddle.account', true)))`,
];

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // What is observed about peers: no revision tells of it. `written` says which rows a reader has not seen yet.
  `create table peer_status (
    account_id text not null,
    peer_id text not null,
    connected boolean,
    stream text,
    server text,
    last_seen timestamptz,
    last_login timestamptz,
    facts jsonb,
    place jsonb,
    written xid8 not null default pg_current_xact_id(),
    primary key (account_id, peer_id),
    foreign key (account_id, peer_id) references objects (account_id, id) on delete cascade
  ) with (fillfactor = 70)`,
  ...policy('peer_status'),
  'create index peer_status_written on peer_status (account_id, written)',
  // Numbers that agents have used in proofs, kept as long as a proof could be repeated.
  `create table agent_nonces (
    account_id text not null,
    nonce text not null,
    expires_at timestamptz not null,
    primary key (account_id, nonce)
  )`,
  ...policy('agent_nonces'),
  // By which a setup key is found without knowing its account.
  `insert into directory (account_id, kind, value, subject_id)
    select account_id, 'setup-key', derived ->> 'key_hash', id from objects
    where kind = 'SetupKey' and derived ->> 'key_hash' is not null
    on conflict do nothing`,
];
