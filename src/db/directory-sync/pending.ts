import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** A directory that is to be read again. */
export interface PendingSync {
  readonly account: string;
  readonly integration: string;
  /** In milliseconds from now; 0: at once, also because its settings changed. */
  readonly dueInMs: number;
  readonly failing: boolean;
}

/**
 * The integrations of all accounts that read directories and that no other server is at than this one, the longest waiting
 * first. Its own leases do not count: one that it could not give back would hold a sync up until it ends.
 */
export async function findPendingSyncs(
  database: Database,
  owner: string,
  limit: number,
): Promise<readonly PendingSync[]> {
  return database.lookUp(statement<PendingSync>(pendingText, [owner, limit]));
}

/** The name of the lease under which a directory is read begins so. */
export const syncLease = 'directory-sync/';

const pendingText = `select o.account_id as account, o.id as integration, coalesce(s.failures, 0) > 0 as failing,
  case when s.tried_revision is distinct from o.updated_revision or s.next_at is null then 0
    when s.waiting is not null and exists (select from plans p where p.account_id = o.account_id
      and p.source_id = 'integration/' || o.id and p.state = 'approved' and p.approved_at > s.ended_at) then 0
    else greatest(0, extract(epoch from s.next_at - clock_timestamp()) * 1000) end::float8 as "dueInMs"
from objects o
left join directory_syncs s on s.account_id = o.account_id and s.integration_id = o.id
where o.kind = 'DirectoryIntegration' and coalesce((o.spec ->> 'enabled')::boolean, true)
  and not exists (select from leases l where l.account_id = o.account_id and l.name = '${syncLease}' || o.id
    and l.until > clock_timestamp() and l.owner <> $1)
order by s.next_at nulls first
limit $2`;

/**
 * Forgets what was read for integrations that are gone, after the commit that deleted them: there may be much of it. A server
 * that writes more of it at this moment has the row of the sync locked.
 */
export async function dropOrphanedSyncs(database: Database): Promise<void> {
  await database.lookUp(statement<object>(orphansText, []));
}

const orphansText = `delete from directory_syncs s
where not exists (select from objects o where o.account_id = s.account_id and o.id = s.integration_id)`;
