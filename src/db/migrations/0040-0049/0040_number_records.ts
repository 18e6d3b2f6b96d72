// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0040_number_records';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

const walled = ['feed_numbers', 'record_deliveries', 'set_aside_records'];

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // Records are numbered in the order of their commits while an object of the account receives them; others have no number.
  // The numbers are beside the logs, which may be large: an index of theirs would be read from all of them, and nothing
  // could be written meanwhile. Their partitions are those of the logs.
  ...['proxy_log', 'traffic_log'].map(
    (log) => `create table ${log}_numbers (
    account_id text not null,
    number bigint not null,
    timestamp timestamptz not null,
    id text collate "C" not null,
    primary key (account_id, number, timestamp)
  ) partition by range (timestamp)`,
  ),
  // The last number of each feed. Its lock is held until the records are committed.
  `create table feed_numbers (
    account_id text not null,
    feed text not null,
    last bigint not null default 0,
    primary key (account_id, feed)
  )`,
  // Up to where an object got the records of a feed; everything else about it is in its row of deliveries.
  `create table record_deliveries (
    account_id text not null,
    channel_id text not null,
    feed text not null,
    cursor bigint not null,
    batch_end bigint,
    batch_left bigint[],
    look_at timestamptz,
    look_behind bigint,
    primary key (account_id, channel_id, feed),
    foreign key (account_id, channel_id) references deliveries on delete cascade
  )`,
  // Records that a receiver refused for what is in them.
  `create table set_aside_records (
    account_id text not null,
    channel_id text not null,
    feed text not null,
    record_number bigint not null,
    reason text not null,
    set_aside_at timestamptz not null,
    retry boolean not null default false,
    primary key (account_id, channel_id, feed, record_number),
    foreign key (account_id, channel_id, feed) references record_deliveries on delete cascade
  )`,
  'create index set_aside_records_retry on set_aside_records (account_id, channel_id) where retry',
  `grant select, insert, update, delete on ${walled.join(', ')} to heddle_app`,
  ...walled.flatMap((table) => [
    `alter table ${table} enable row level security`,
    `create policy account on ${table} to heddle_app
      using (account_id = (select current_setting('heddle.account', true)))
      with check (account_id = (select current_setting('heddle.account', true)))`,
  ]),
];
