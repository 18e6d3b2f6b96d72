// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0010_add_credentials';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

const tables = [
  // How a person is known to the embedded identity provider: by the address, in lower case, for which `directory` has the
  // account and the user. It may outlive the user, who may come back under the address.
  `create table credentials (
    account_id text not null,
    email text not null,
    user_id text not null,
    password_hash text not null,
    one_time boolean not null default false,
    changed_at timestamptz not null,
    totp_secret text,
    totp_confirmed boolean not null default false,
    totp_step bigint,
    primary key (account_id, email)
  )`,
  'create unique index credentials_user on credentials (account_id, user_id)',
  // An invite that names a user lets that one in; the others make the user when they are accepted.
  `create table invites (
    account_id text not null,
    id text not null,
    hash text not null,
    user_id text,
    email text not null,
    name text not null,
    role text not null,
    auto_groups jsonb not null,
    created_by text not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    primary key (account_id, id)
  )`,
  'create unique index invites_email on invites (account_id, lower(email))',
  'create index invites_subject on invites (account_id, coalesce(user_id, created_by))',
];

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  ...tables,
  // Entries go with what they lead to.
  'create index directory_subject on directory (account_id, subject_id)',
  'grant select, insert, update, delete on credentials, invites to heddle_app',
  ...['credentials', 'invites'].flatMap((table) => [
    `alter table ${table} enable row level security`,
    `create policy account on ${table} to heddle_app
      using (account_id = (select current_setting('heddle.account', true)))
      with check (account_id = (select current_setting('heddle.account', true)))`,
  ]),
];
