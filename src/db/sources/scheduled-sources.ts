import type { JsonObject } from '../../lib/json.ts';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/**
 * A source of any account, with the pending requests for it and the server that runs it. Times are opaque texts: a
 * later time is a different text.
 */
export interface ScheduledSource {
  readonly account: string;
  readonly id: string;
  readonly type: string;
  readonly spec: JsonObject;
  readonly suspended: boolean;
  readonly generation: number;
  /** The newest request to reconcile that is not handled yet. */
  readonly requested: string | null;
  /** The newest hint that its content has changed. */
  readonly hinted: string | null;
  /** Whether the plan for which the source waits is approved. */
  readonly approved: boolean;
  /** The server that runs the source; `null` when no server runs it. */
  readonly runner: string | null;
}

/** Returns all sources of all accounts. Every server reads them to find the sources that it may have to run. */
export async function findScheduledSources(database: Database): Promise<readonly ScheduledSource[]> {
  return database.lookUp(statement<ScheduledSource>(scheduledText, []));
}

const scheduledText = `select s.account_id as account, s.id, s.type, s.spec, s.suspended, s.generation,
  case when s.handled_at is null or s.handled_at < s.requested_at then s.requested_at::text end as requested,
  s.hinted_at::text as hinted, l.owner as runner,
  s.status ? 'planDigest' and exists (
    select from plans p where p.account_id = s.account_id and p.source_id = s.id
      and p.digest = s.status ->> 'planDigest' and p.state = 'approved' and p.expires_at > now()
  ) as approved
from directory d
join sources s on s.account_id = d.account_id and s.id = d.subject_id
left join leases l on l.account_id = d.account_id and l.name = 'source/' || s.id and l.until > clock_timestamp()
where d.kind = 'source'`;

/**
 * Requests a reconcile of a source from the server that runs it. Returns the time of the request, in ISO 8601;
 * `undefined` when the source does not exist.
 */
export async function requestReconcile(database: Database, account: string, id: string): Promise<string | undefined> {
  const [rows] = await database.inAccount(account, [
    statement<{ readonly at: Date }>(
      'update sources set requested_at = clock_timestamp() where account_id = $1 and id = $2 returning requested_at as at',
      [account, id],
    ),
  ]);
  return rows[0]?.at.toISOString();
}

/** Marks a request and all earlier ones as handled. */
export async function markHandled(database: Database, account: string, id: string, requested: string): Promise<void> {
  await database.inAccount(account, [
    statement(
      `update sources set handled_at = $3::timestamptz
      where account_id = $1 and id = $2 and (handled_at is null or handled_at < $3::timestamptz)`,
      [account, id, requested],
    ),
  ]);
}

/** Records a hint that the content of a source may have changed. */
export async function hintSource(database: Database, account: string, id: string): Promise<void> {
  await database.inAccount(account, [
    statement('update sources set hinted_at = clock_timestamp() where account_id = $1 and id = $2', [account, id]),
  ]);
}

/**
 * Returns the actors with the most revisions among the last 60 of the account, without revisions of `source`: at most
 * 3, most active first.
 */
export async function findOtherWriters(
  database: Database,
  account: string,
  source: string,
): Promise<readonly { readonly name: string; readonly count: number }[]> {
  const [rows] = await database.inAccount(account, [
    statement<{ readonly name: string; readonly count: number }>(writersText, [account, source]),
  ]);
  return rows;
}

const writersText = `select actor ->> 'name' as name, count(*) as count
from (select actor, source_id from revisions where account_id = $1 order by revision desc limit 60) lately
where source_id is distinct from $2
group by 1 order by 2 desc, 1 limit 3`;
