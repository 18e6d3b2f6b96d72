// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0034_add_deliveries';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

const walled = ['deliveries', 'set_aside_events', 'webhook_keys'];

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // A row an object to which audit events are delivered. Events up to `cursor` are done with. A batch of several events
  // that was begun ends with `batch_end`, so that a repetition is the same batch. `generation` moves when people put the
  // cursor elsewhere: what was read before is not written then.
  `create table deliveries (
    account_id text not null,
    channel_id text not null,
    kind text not null,
    cursor bigint not null,
    batch_end bigint,
    generation bigint not null default 0,
    failures int not null default 0,
    paused boolean not null default false,
    reported boolean not null default false,
    next_at timestamptz,
    tried_revision bigint,
    last_success_at timestamptz,
    last_error text,
    last_error_at timestamptz,
    primary key (account_id, channel_id)
  )`,
  // Events that a receiver refused for what is in them; they are sent again when people ask for it.
  `create table set_aside_events (
    account_id text not null,
    channel_id text not null,
    event_id bigint not null,
    reason text not null,
    set_aside_at timestamptz not null,
    retry boolean not null default false,
    primary key (account_id, channel_id, event_id),
    foreign key (account_id, channel_id) references deliveries on delete cascade
  )`,
  'create index set_aside_events_retry on set_aside_events (account_id, channel_id) where retry',
  // The keys with which webhooks of an account are signed, sealed. A key that is followed by another one signs along for a while.
  `create table webhook_keys (
    account_id text not null,
    id text not null,
    public_key text not null,
    sealed text not null,
    created_at timestamptz not null,
    retired_at timestamptz,
    primary key (account_id, id)
  )`,
  'create unique index webhook_keys_current on webhook_keys (account_id) where retired_at is null',
  `grant select, insert, update, delete on ${walled.join(', ')} to heddle_app`,
  ...walled.flatMap((table) => [
    `alter table ${table} enable row level security`,
    `create policy account on ${table} to heddle_app
      using (account_id = (select current_setting('heddle.account', true)))
      with check (account_id = (select current_setting('heddle.account', true)))`,
  ]),
];
