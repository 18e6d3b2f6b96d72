// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0025_add_operator';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // What the server knows about itself, in one row: the account of its operator, and since when it has had people. It is
  // read and written outside of row-level security only; heddle_app has no right to it.
  `create table operator (
    one boolean primary key default true check (one),
    account text,
    people_since timestamptz
  )`,
  // Where there are several accounts nothing in the database says which one is the operator's.
  `insert into operator (account, people_since) select
    (select min(account_id) from accounts having count(*) = 1),
    case when exists (select from credentials) or exists (select from identities) then now() end`,
  // A trigger, so that no way in which a person comes is forgotten. The row is written once: it is never waited for again.
  `create function heddle_note_people() returns trigger language plpgsql security definer as $$
  begin
    if not exists (select from operator where people_since is not null) then
      insert into operator (people_since) values (now())
      on conflict (one) do update set people_since = coalesce(operator.people_since, excluded.people_since);
    end if;
    return null;
  end $$`,
  `do $$ begin execute format('alter function heddle_note_people() set search_path = %I, pg_temp', current_schema()); end $$`,
  'revoke execute on function heddle_note_people() from public',
  ...['credentials', 'identities'].map(
    (table) =>
      `create trigger note_people after insert on ${table} for each statement execute function heddle_note_people()`,
  ),
];
