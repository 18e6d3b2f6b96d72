import type { CompiledQuery } from 'kysely';
import { statement, writerPrefix } from './builder.ts';
import type { Database } from './database.ts';

/** A session that holds an account, and the age of its transaction in seconds. */
export interface Holder {
  readonly name: string;
  readonly seconds: number;
}

/**
 * Returns the query for the session that has held an account for longest. Leaves out sessions that wait for a lock,
 * because they hold nothing that others wait for.
 */
export function holderQuery(account: string): CompiledQuery<Holder> {
  return statement<Holder>(holderText, [writerPrefix(account)]);
}

const holderText = `select application_name as name, extract(epoch from clock_timestamp() - xact_start)::float8 as seconds
from pg_stat_activity a
where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null and wait_event_type is distinct from 'Lock'
  and (starts_with(application_name, $1) or (application_name not like 'heddle %' and exists (
    select from pg_locks l where l.pid = a.pid and l.relation = to_regclass('accounts') and l.mode in ('RowShareLock', 'RowExclusiveLock'))))
order by starts_with(application_name, $1) desc, xact_start
limit 1`;

/** Returns the names of the sessions that have held tables for longest, as part of a sentence. */
export async function describeHolders(database: Pick<Database, 'lookUp'>): Promise<string> {
  // An error is ignored, because an unknown holder changes nothing about the wait.
  const sessions = await database.lookUp(statement<Holder & { readonly pid: number }>(tablesText, [])).catch(() => []);
  if (sessions.length === 0) return 'tables that another session held';
  return sessions
    .map(({ name, pid, seconds }) => `the session ${pid} (${name || 'without a name'}, for ${Math.round(seconds)} s)`)
    .join(', ');
}

const tablesText = `select pid, application_name as name, extract(epoch from clock_timestamp() - xact_start)::float8 as seconds
from pg_stat_activity a
where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null and exists (
  select from pg_locks l join pg_class c on c.oid = l.relation
  where l.pid = a.pid and l.granted and c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace)
order by xact_start
limit 3`;

/** Returns the message for a write that was refused because the account is held. */
export function heldMessage(account: string, holder: Holder | undefined): string {
  const prefix = writerPrefix(account);
  const isOurs = holder?.name.startsWith(prefix) === true;
  const who = isOurs ? holder.name.slice(prefix.length) : holder === undefined ? '' : `the program ${holder.name}`;
  const by = holder === undefined || who === '' ? 'another writer' : `${who}, for ${Math.round(holder.seconds)} s`;
  return `the account is held by ${by}; nothing was changed, try again`;
}
