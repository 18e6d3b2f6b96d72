// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0012_add_identities';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // Who a user is at an identity provider. The directory has `issuer subject`, by which the account is found.
  `create table identities (
    account_id text not null,
    issuer text not null,
    subject text not null,
    user_id text not null,
    created_at timestamptz not null,
    last_login timestamptz,
    primary key (account_id, issuer, subject)
  )`,
  // Whom an e-mail address belongs to in any account; asked for at the first sign-in of an identity.
  `create index object_keys_email on object_keys (value) where kind = 'User' and rule = 'email'`,
  'create index credentials_person on credentials (user_id)',
  'create index identities_user on identities (account_id, user_id)',
  'grant select, insert, update, delete on identities to heddle_app',
  'alter table identities enable row level security',
  `create policy account on identities to heddle_app
    using (account_id = (select current_setting('heddle.account', true)))
    with check (account_id = (select current_setting('heddle.account', true)))`,
];
