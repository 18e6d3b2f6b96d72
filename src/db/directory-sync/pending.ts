import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** A directory to read again. */
export interface PendingSync {
  readonly account: string;
  readonly integration: string;
  /** Milliseconds until the sync is due. 0: due now, also because the settings changed. */
  readonly dueInMs: number;
  readonly failing: boolean;
}

/**
 * Returns the directory integrations of all accounts that no other server is reading, longest waiting first. Ignores
 * leases of this server (`owner`): a lease that it failed to release would otherwise block a sync until the lease
 * expires.
 */
export async function findPendingSyncs(
  database: Database,
  owner: string,
  limit: number,
): Promise<readonly PendingSync[]> {
  return database.lookUp(statement<PendingSync>(pendingText, [owner, limit]));
}

/** Prefix of the name of the lease under which a directory is read. */
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
 * Deletes the stored data of integrations that no longer exist. This runs after the commit that deleted them, because
 * there may be much data. A server that is writing more of it holds a lock on the row of the sync.
 */
export async function dropOrphanedSyncs(database: Database): Promise<void> {
  await database.lookUp(statement<object>(orphansText, []));
}

const orphansText = `delete from directory_syncs s
where not exists (select from objects o where o.account_id = s.account_id and o.id = s.integration_id)`;
