import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** A revision that a user applied by hand to a source that a server runs. */
export interface ManualRevision {
  readonly source: string;
  readonly revision: number;
  readonly by: string;
  /** The Git commit that the server had applied before; `null` when it is not recorded. */
  readonly commit: string | null;
}

/**
 * Returns, for each source that a server runs, the newest revision that a user applied by hand since the server last
 * applied it.
 */
export async function listManualRevisions(database: Database, account: string): Promise<readonly ManualRevision[]> {
  const [rows] = await database.inAccount(account, [statement<ManualRevision>(manualRevisionsText, [account])]);
  return rows;
}

const manualRevisionsText = `select s.id as source, r.revision, r.actor ->> 'name' as by, s.status ->> 'lastAppliedCommit' as commit
from sources s cross join lateral (
  select revision, actor from revisions
  where account_id = $1 and source_id = s.id and revision > (s.status ->> 'lastAppliedRevision')::bigint
    and plan_digest is not null and actor ->> 'type' <> 'source' and not summary ? 'rollback'
  order by revision desc limit 1
) r
where s.account_id = $1 and s.type <> 'push' and s.status ? 'lastAppliedRevision'`;
