import { restrictTo, statement } from '../builder.ts';
import type { Database, RunSql } from '../database.ts';

/** Returns the accounts whose oldest audit event is older than `days` days. */
export async function agedAuditLogs(database: Database, days: number): Promise<readonly string[]> {
  const found = await database.lookUp(statement<{ readonly account: string }>(agedText, [days]));
  return found.map(({ account }) => account);
}

const agedText = `select a.account_id as account from accounts a
cross join lateral (select created_at from audit_events e where e.account_id = a.account_id order by id limit 1) first
where first.created_at < now() - $1::int * interval '1 day' order by account`;

/** Maximum number of events that one step deletes. */
const eventsPerStep = 1000;

/**
 * Deletes some of the oldest audit events of an account, in one transaction that takes no lock that a writer waits for.
 * Returns the number of deleted events, or 0 when none is left to delete or another server is deleting.
 */
export async function deleteAgedEvents(database: Database, account: string, days: number): Promise<number> {
  let deleted = 0;
  const work = async (run: RunSql) => {
    deleted = 0;
    const restriction = restrictTo(account, { write: true });
    await run(restriction.sql, restriction.parameters);
    await run('insert into audit_base (account_id) values ($1) on conflict do nothing', [account]);
    const held = await run('select 1 as held from audit_base where account_id = $1 for update skip locked', [account]);
    if (held.length === 0) return;
    const [gone] = await run<{ readonly count: number }>(deleteText, [account, days, eventsPerStep]);
    deleted = gone?.count ?? 0;
  };
  await database.asOwner(work, { write: 'short' });
  if (deleted > 0) database.countWrittenRows(deleted);
  return deleted;
}

// Set-aside events are kept, because users still decide about them. Apart from that, the log has no gaps: when an event
// is too young to be deleted, all later events are kept too.
const deleteText = `with delivered as (
  select min(cursor) as id from deliveries where account_id = $1
), oldest as (
  select e.id, e.revision, e.activity_code, e.created_at from audit_events e, delivered
  where e.account_id = $1 and e.id <= coalesce(delivered.id, e.id)
    and not exists (select from set_aside_events s where s.account_id = $1 and s.event_id = e.id)
  order by e.id limit $3
), kept as (
  select min(id) as id from oldest where created_at >= now() - $2::int * interval '1 day'
), gone as (
  delete from audit_events e using oldest o, kept
  where e.account_id = $1 and e.id = o.id and o.id < coalesce(kept.id, o.id + 1)
  returning e.id, coalesce(e.revision, 0) as revision, e.activity_code
), notice as (
  select revision, id from gone where activity_code like 'config.%' order by revision desc, id desc limit 1
), base as (
  update audit_base b set event_id = greatest(b.event_id, (select max(id) from gone)),
    notice_revision = case when (n.revision, n.id) > (b.notice_revision, b.notice_id) then n.revision else b.notice_revision end,
    notice_id = case when (n.revision, n.id) > (b.notice_revision, b.notice_id) then n.id else b.notice_id end
  from (select 1) one left join notice n on true
  where b.account_id = $1 and exists (select from gone)
)
select count(*)::int as count from gone`;
