// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0038_add_directory_sync';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

const ofSync = 'foreign key (account_id, integration_id) references directory_syncs on delete cascade';

const walled = ['directory_syncs', 'directory_users', 'directory_groups', 'directory_members'];

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // A row an integration that reads a directory. The links are where reading goes on: in the middle of a list, or with
  // what changed since its end, once the whole list was `read`. They are for the settings whose hash `basis` is. While `full` is set, everything is read
  // anew: rows of an older `generation` were not seen yet. `applied_revision` is that of the account when what was
  // read was applied, `waiting` why it was not.
  `create table directory_syncs (
    account_id text not null,
    integration_id text not null,
    basis text not null default '',
    generation bigint not null default 0,
    "full" boolean not null default true,
    groups_link text,
    groups_read boolean not null default false,
    users_link text,
    users_read boolean not null default false,
    linked_at timestamptz,
    next_at timestamptz,
    tried_revision bigint,
    failures int not null default 0,
    reported boolean not null default false,
    last_error text,
    last_error_at timestamptz,
    ended_at timestamptz,
    applied_revision bigint,
    waiting text,
    secret_basis text,
    secret_checked_at timestamptz,
    secret_ends_at timestamptz,
    secret_note text,
    secret_warned int,
    primary key (account_id, integration_id)
  )`,
  // What the directory says about users and groups that are selected; users without data are gone.
  `create table directory_users (
    account_id text not null,
    integration_id text not null,
    id text not null,
    generation bigint not null,
    data jsonb,
    primary key (account_id, integration_id, id),
    ${ofSync}
  )`,
  `create table directory_groups (
    account_id text not null,
    integration_id text not null,
    id text not null,
    generation bigint not null,
    name text not null,
    synced boolean not null,
    selecting boolean not null,
    primary key (account_id, integration_id, id),
    ${ofSync}
  )`,
  `create table directory_members (
    account_id text not null,
    integration_id text not null,
    group_id text not null,
    user_id text not null,
    generation bigint not null,
    primary key (account_id, integration_id, group_id, user_id),
    ${ofSync}
  )`,
  'create index directory_members_user on directory_members (account_id, integration_id, user_id)',
  // Finds the integrations of all accounts.
  "create index objects_directory on objects (id, account_id) where kind = 'DirectoryIntegration'",
  `grant select, insert, update, delete on ${walled.join(', ')} to heddle_app`,
  ...walled.flatMap((table) => [
    `alter table ${table} enable row level security`,
    `create policy account on ${table} to heddle_app
      using (account_id = (select current_setting('heddle.account', true)))
      with check (account_id = (select current_setting('heddle.account', true)))`,
  ]),
];
