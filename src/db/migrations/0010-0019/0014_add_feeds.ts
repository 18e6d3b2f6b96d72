// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0014_add_feeds';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // Feeds are outside row-level security: one query builder of the server reads them, and no other role has rights on them.
  // Their partitions, a week each, are made ahead and dropped by the server.
  `create table proxy_log (
    account_id text not null,
    timestamp timestamptz not null,
    id text collate "C" not null,
    service_id text not null,
    method text not null,
    host text not null,
    path text not null,
    duration_ms bigint not null,
    status_code int not null,
    source_ip text not null,
    reason text not null,
    user_id text not null,
    auth_method_used text not null,
    country_code text not null,
    city_name text not null,
    subdivision_code text not null,
    bytes_upload bigint not null,
    bytes_download bigint not null,
    protocol text not null,
    metadata jsonb,
    slice bigint not null,
    path_key bigint not null,
    primary key (account_id, timestamp, id)
  ) partition by range (timestamp)`,
  'create index proxy_log_slice on proxy_log (account_id, slice, timestamp)',
  'create index proxy_log_path on proxy_log (account_id, path_key, timestamp)',
  'create index proxy_log_source on proxy_log (account_id, source_ip, timestamp)',
  `create index proxy_log_user on proxy_log (account_id, user_id, timestamp) where user_id <> ''`,
  'create index proxy_log_id on proxy_log (account_id, id)',
  `create table traffic_log (
    account_id text not null,
    timestamp timestamptz not null,
    id text collate "C" not null,
    flow_id text not null,
    reporter_id text not null,
    source_id text not null,
    source_address text not null,
    source_key bigint not null,
    destination_id text not null,
    destination_address text not null,
    destination_key bigint not null,
    user_id text not null,
    protocol int not null,
    direction text not null,
    connection_type text not null,
    types text[] not null,
    record jsonb not null,
    slice bigint not null,
    primary key (account_id, timestamp, id)
  ) partition by range (timestamp)`,
  'create index traffic_log_reporter on traffic_log (account_id, reporter_id, timestamp)',
  `create index traffic_log_source_id on traffic_log (account_id, source_id, timestamp) where source_id <> ''`,
  `create index traffic_log_destination_id on traffic_log (account_id, destination_id, timestamp) where destination_id <> ''`,
  'create index traffic_log_source on traffic_log (account_id, source_key, timestamp)',
  'create index traffic_log_destination on traffic_log (account_id, destination_key, timestamp)',
  `create index traffic_log_user on traffic_log (account_id, user_id, timestamp) where user_id <> ''`,
  'create index traffic_log_slice on traffic_log (account_id, slice, timestamp)',
  // How many records of a slice (those that share some values) an hour has.
  `create table feed_hours (
    account_id text not null,
    feed text not null,
    slice bigint not null,
    hour timestamptz not null,
    count bigint not null,
    primary key (account_id, feed, slice, hour)
  )`,
  // Every value of a field that is searched by a part of it, with the key that records have in its place.
  `create table feed_values (
    account_id text not null,
    feed text not null,
    field text not null,
    key bigint not null,
    value text not null,
    day date not null,
    primary key (account_id, feed, field, key)
  )`,
  // Reports that were stored: repeating one stores nothing.
  `create table feed_batches (
    account_id text not null,
    feed text not null,
    reporter text not null,
    batch text not null,
    stored_at timestamptz not null,
    primary key (account_id, feed, reporter, batch)
  )`,
];
