// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0043_add_proxy_domains';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

const walled = ['proxy_domains', 'proved_domains'];

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // What the checks of a custom domain found. `validated`: the last answer of name servers had a record that proves it.
  // `failures` counts the checks since that found none, or no answer.
  `create table proxy_domains (
    account_id text not null,
    domain_id text not null,
    validated boolean not null default false,
    problem text,
    checked_at timestamptz,
    failures int not null default 0,
    next_at timestamptz,
    tried_revision bigint,
    primary key (account_id, domain_id),
    foreign key (account_id, domain_id) references objects (account_id, id) on delete cascade
  )`,
  // The one account that has proved a domain, and keeps it when its record goes until another one proves it.
  `create table proved_domains (
    account_id text not null,
    domain_id text not null,
    domain text not null,
    method text not null,
    proved_at timestamptz not null,
    primary key (account_id, domain_id),
    foreign key (account_id, domain_id) references proxy_domains on delete cascade
  )`,
  'create unique index proved_domains_domain on proved_domains (domain)',
  `grant select, insert, update, delete on ${walled.join(', ')} to heddle_app`,
  ...walled.flatMap((table) => [
    `alter table ${table} enable row level security`,
    `create policy account on ${table} to heddle_app
      using (account_id = (select current_setting('heddle.account', true)))
      with check (account_id = (select current_setting('heddle.account', true)))`,
  ]),
];
