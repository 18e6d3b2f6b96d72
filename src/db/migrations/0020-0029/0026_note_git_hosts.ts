// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0026_note_git_hosts';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // Hosts that Git sources made over the API named before private addresses were refused to them. They count for the
  // operator's account alone; which one that is may be said later, so those of every account are noted. Nothing adds to it.
  `create table former_git_hosts (
    account_id text not null,
    host text not null,
    primary key (account_id, host)
  )`,
  `insert into former_git_hosts (account_id, host)
  select distinct account_id, rtrim(btrim(lower(host), '[]'), '.') from (
    select account_id, coalesce(
      substring(spec ->> 'url' from '^[a-z]+://(?:[^@/]*@)?(\\[[^]/]+\\]|[^:/]+)'),
      substring(spec ->> 'url' from '^[A-Za-z0-9_.-]+@([A-Za-z0-9_.-]+):')) as host
    from sources where type = 'git' and spec ->> 'managedBy' = 'api') named
  where host is not null`,
  'alter table former_git_hosts enable row level security',
  `create policy account on former_git_hosts to heddle_app
    using (account_id = (select current_setting('heddle.account', true)))
    with check (account_id = (select current_setting('heddle.account', true)))`,
];
