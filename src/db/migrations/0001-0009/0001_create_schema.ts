// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0001_create_schema';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

const tables = [
  `create table accounts (
    account_id text primary key,
    revision bigint not null default 0,
    audit_sequence bigint not null default 0,
    sequences jsonb not null default '{}',
    created_at timestamptz not null
  )`,
  // No other index here may begin with account_id: the cached plan of a foreign-key check would pick it and scan the account.
  `create table objects (
    account_id text not null,
    id text not null,
    kind text not null,
    parent_id text,
    key text,
    name text not null default '',
    spec jsonb not null,
    derived jsonb not null default '{}',
    owner text,
    protected boolean not null default false,
    created_revision bigint not null,
    updated_revision bigint not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (account_id, id)
  )`,
  `create table object_keys (
    account_id text not null,
    kind text not null,
    rule text not null,
    value text not null,
    object_id text not null,
    primary key (account_id, kind, rule, value)
  )`,
  `create table object_refs (
    account_id text not null,
    from_id text not null,
    field text not null,
    to_id text not null,
    origin text not null default '',
    primary key (account_id, from_id, field, to_id, origin),
    foreign key (account_id, from_id) references objects (account_id, id),
    foreign key (account_id, to_id) references objects (account_id, id)
  )`,
  'create index object_refs_to on object_refs (account_id, to_id)',
  `create table declared (
    account_id text not null,
    object_id text not null,
    source_id text not null,
    stated jsonb not null,
    file text,
    line int,
    primary key (account_id, object_id, source_id)
  )`,
  `create table sources (
    account_id text not null,
    id text not null,
    type text not null,
    spec jsonb not null,
    status jsonb not null default '{}',
    suspended boolean not null default false,
    lease_owner text,
    lease_until timestamptz,
    fence bigint not null default 0,
    created_at timestamptz not null,
    primary key (account_id, id)
  )`,
  `create table plans (
    account_id text not null,
    id text not null,
    source_id text,
    digest text not null,
    state text not null,
    request jsonb not null,
    result jsonb not null,
    base_revision bigint not null,
    actor jsonb not null,
    applied_revision bigint,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    primary key (account_id, id)
  )`,
  `create table revisions (
    account_id text not null,
    revision bigint not null,
    created_at timestamptz not null,
    actor jsonb not null,
    source_id text,
    commit_ref text,
    plan_id text,
    plan_digest text,
    request_id text not null,
    summary jsonb not null default '{}',
    primary key (account_id, revision)
  )`,
  'create unique index revisions_request on revisions (account_id, request_id)',
  `create table changes (
    account_id text not null,
    revision bigint not null,
    seq int not null,
    action text not null,
    kind text not null,
    object_id text not null,
    key text,
    name text not null default '',
    units jsonb not null default '[]',
    image jsonb,
    primary key (account_id, revision, seq)
  )`,
  `create table audit_events (
    account_id text not null,
    id bigint not null,
    revision bigint,
    created_at timestamptz not null,
    activity_code text not null,
    initiator_id text not null default '',
    initiator_name text not null default '',
    initiator_email text not null default '',
    target_id text not null default '',
    meta jsonb not null default '{}',
    primary key (account_id, id)
  )`,
  `create table tokens (
    account_id text not null,
    id text not null,
    user_id text not null,
    name text not null,
    hash text not null,
    created_by text not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    last_used timestamptz,
    primary key (account_id, id)
  )`,
  `create table directory (
    account_id text not null,
    kind text not null,
    value text not null,
    subject_id text not null,
    primary key (account_id, kind, value)
  )`,
  'create unique index directory_value on directory (kind, value)',
];

const walled = [
  'accounts',
  'objects',
  'object_keys',
  'object_refs',
  'declared',
  'sources',
  'plans',
  'revisions',
  'changes',
  'audit_events',
  'tokens',
];

// Roles belong to the cluster, so databases of one cluster race here although each holds its own lock:
// the later one finds the role, or the grant, already created.
const role = `do $$
begin
  if not exists (select from pg_roles where rolname = 'heddle_app') then
    begin
      create role heddle_app nologin;
    exception when duplicate_object or unique_violation then null;
    end;
  end if;
  begin
    grant heddle_app to current_user;
  exception
    when unique_violation then null;
    when internal_error then
      if sqlerrm <> 'tuple concurrently updated' then raise; end if;
    when insufficient_privilege then
      if not pg_has_role(current_user, 'heddle_app', 'member') then raise; end if;
  end;
  execute format('grant usage on schema %I to heddle_app', current_schema());
end $$`;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  ...tables,
  role,
  `grant select, insert, update, delete on ${[...walled, 'directory'].join(', ')} to heddle_app`,
  ...walled.flatMap((table) => [
    `alter table ${table} enable row level security`,
    `create policy account on ${table} to heddle_app
      using (account_id = (select current_setting('heddle.account', true)))
      with check (account_id = (select current_setting('heddle.account', true)))`,
  ]),
];
