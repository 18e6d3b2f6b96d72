// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0029_bind_credentials';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // To which hosts a file of the directory of values is shown by Git sources that the API made.
  `create table credential_hosts (
    account_id text not null,
    file text not null,
    hosts text[] not null,
    primary key (account_id, file)
  )`,
  // What is in use stays in use.
  `insert into credential_hosts (account_id, file, hosts)
  select account_id, file, array_agg(distinct rtrim(btrim(lower(host), '[]'), '.')) from (
    select account_id, credential.value as file, coalesce(
      substring(spec ->> 'url' from '^[a-z]+://(?:[^@/]*@)?(\\[[^]/]+\\]|[^:/]+)'),
      substring(spec ->> 'url' from '^[A-Za-z0-9_.-]+@([A-Za-z0-9_.-]+):')) as host
    from sources, jsonb_each_text(case when jsonb_typeof(spec -> 'credentials') = 'object' then spec -> 'credentials' else '{}' end) as credential
    where type = 'git' and spec ->> 'managedBy' = 'api' and credential.key in ('passwordFile', 'sshKeyFile')) shown
  where host is not null group by account_id, file`,
  'alter table credential_hosts enable row level security',
  `create policy account on credential_hosts to heddle_app
    using (account_id = (select current_setting('heddle.account', true)))
    with check (account_id = (select current_setting('heddle.account', true)))`,
];
