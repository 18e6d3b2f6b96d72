// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0005_add_history_base';

/**
 * The lowest schema number of a program that may still run against the result. Older ones catch up from `changes` alone;
 * what is folded into the base is months old, and no running server is that far behind.
 */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // Where the history of an account begins: the state after this revision is in base_objects, its changes are gone.
  // A snapshot older than valid_from is no beginning of what followed. No row: the history begins with the account.
  `create table history_base (
    account_id text not null primary key,
    revision bigint not null,
    valid_from bigint not null default 0
  )`,
  `create table base_objects (
    account_id text not null,
    object_id text not null,
    image jsonb not null,
    primary key (account_id, object_id)
  )`,
  // The history of one object, without reading that of the account.
  'create index changes_object on changes (account_id, object_id, revision)',
  // The revision that rolled the source back, until a plan that takes this back was approved.
  'alter table sources add column rolled_back bigint',
  'grant select, insert, update, delete on history_base, base_objects to heddle_app',
  ...['history_base', 'base_objects'].flatMap((table) => [
    `alter table ${table} enable row level security`,
    `create policy account on ${table} to heddle_app
      using (account_id = (select current_setting('heddle.account', true)))
      with check (account_id = (select current_setting('heddle.account', true)))`,
  ]),
];
