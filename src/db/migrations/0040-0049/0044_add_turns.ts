// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0044_add_turns';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // The line of those who take turns at writing to an account. Unlogged: joining it waits for no disk, and a Postgres that
  // crashed or was replaced by its standby begins with an empty line, which only costs attempts.
  `create unlogged table turns (
    account_id text not null,
    contender text not null,
    place bigint not null,
    until timestamptz not null,
    primary key (account_id, contender)
  )`,
  'grant select, insert, update, delete on turns to heddle_app',
  'alter table turns enable row level security',
  `create policy account on turns to heddle_app
    using (account_id = (select current_setting('heddle.account', true)))
    with check (account_id = (select current_setting('heddle.account', true)))`,
];
