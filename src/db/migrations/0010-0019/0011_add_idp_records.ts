// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0011_add_idp_records';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // What the embedded identity provider remembers: sessions, grants, codes, refresh tokens. It is the server's as a whole,
  // because nobody has said who they are when a sign-in begins: no account, and nothing granted to heddle_app, which works
  // for one account at a time. Ids are hashes and payloads are sealed: who reads the table cannot sign in with it.
  `create table idp_records (
    model text not null,
    id text not null,
    payload text not null,
    user_id text,
    grant_hash text,
    uid_hash text,
    code_hash text,
    consumed_at timestamptz,
    expires_at timestamptz not null,
    primary key (model, id)
  )`,
  'create index idp_records_user on idp_records (user_id) where user_id is not null',
  'create index idp_records_grant on idp_records (grant_hash) where grant_hash is not null',
  'create index idp_records_uid on idp_records (uid_hash) where uid_hash is not null',
  'create index idp_records_code on idp_records (code_hash) where code_hash is not null',
  'create index idp_records_end on idp_records (expires_at)',
  // The keys that it signs with, sealed. A retired key verifies until the last token that it signed has ended.
  `create table idp_keys (
    id text primary key,
    purpose text not null,
    sealed text not null,
    created_at timestamptz not null,
    retired_at timestamptz
  )`,
];
