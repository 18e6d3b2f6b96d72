import { statement } from '../builder.ts';
import type { AccountAccess } from '../database.ts';

/**
 * Returns the number of objects that a source deleted in the hour before `now` (ISO 8601), after its last approved plan
 * was applied.
 */
export async function countRecentDeletes(
  database: AccountAccess,
  { account, source, now }: { readonly account: string; readonly source: string; readonly now: string },
): Promise<number> {
  const [[row]] = await database.inAccount(account, [
    statement<{ readonly deleted: number }>(recentText, [account, source, now]),
  ]);
  return row?.deleted ?? 0;
}

const recentText = `select coalesce(sum((summary ->> 'delete')::int), 0)::int as deleted from revisions
where account_id = $1 and source_id = $2 and created_at > $3::timestamptz - interval '1 hour'
  and revision > coalesce(
    (select max(applied_revision) from plans where account_id = $1 and source_id = $2 and approved_at is not null), 0)`;
