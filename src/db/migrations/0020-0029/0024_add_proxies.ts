// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0024_add_proxies';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

const tables = [
  // The cluster is the one that it first registered for; with that cluster the token ends.
  `create table proxy_tokens (
    account_id text not null,
    id text not null,
    name text not null,
    hash text not null,
    created_by text not null,
    created_at timestamptz not null,
    expires_at timestamptz,
    last_used timestamptz,
    cluster_id text,
    primary key (account_id, id)
  )`,
  // Connected by a stream until it ends, or as long as heartbeats come.
  `create table proxies (
    account_id text not null,
    id text not null,
    token_id text not null,
    cluster_id text not null,
    version text not null,
    connected boolean not null,
    registered_at timestamptz not null,
    last_seen timestamptz not null,
    primary key (account_id, id)
  )`,
  // What proxies say about services, beside their revisions.
  `create table service_status (
    account_id text not null,
    service_id text not null,
    status text not null,
    certificate_issued_at timestamptz,
    proxy_id text not null,
    reported_at timestamptz not null,
    primary key (account_id, service_id)
  )`,
];

const names = ['proxy_tokens', 'proxies', 'service_status'];

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  ...tables,
  `grant select, insert, update, delete on ${names.join(', ')} to heddle_app`,
  ...names.flatMap((table) => [
    `alter table ${table} enable row level security`,
    `create policy account on ${table} to heddle_app
      using (account_id = (select current_setting('heddle.account', true)))
      with check (account_id = (select current_setting('heddle.account', true)))`,
  ]),
];
