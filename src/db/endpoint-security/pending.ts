import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** An integration whose product is to be asked about peers. */
export interface PendingSync {
  readonly account: string;
  readonly integration: string;
  /** In milliseconds from now; 0: at once, also because its settings changed. */
  readonly dueInMs: number;
  readonly failing: boolean;
  /** It decides about peers already. */
  readonly decides: boolean;
}

/** The enabled integrations of all accounts that no other server is at than this one, those that are due first. */
export async function findPendingSyncs(
  database: Database,
  owner: string,
  limit: number,
): Promise<readonly PendingSync[]> {
  return database.lookUp(statement<PendingSync>(pendingText, [owner, limit]));
}

const pendingText = `select e.account_id as account, e.integration_id as integration, e.failures > 0 as failing, e.decides,
  case when e.tried_revision is distinct from o.updated_revision then 0
    else greatest(0, extract(epoch from e.next_at - clock_timestamp()) * 1000) end::float8 as "dueInMs"
from endpoint_security e
join objects o on o.account_id = e.account_id and o.id = e.integration_id
where coalesce((o.spec ->> 'enabled')::boolean, true)
  and not exists (select from leases l where l.account_id = e.account_id and l.name = 'endpoint-security/' || e.integration_id
    and l.until > clock_timestamp() and l.owner <> $1)
order by "dueInMs", e.next_at nulls first
limit $2`;

/** Gives a row to objects of these kinds that have none: those that were made since it was last called. Returns how many. */
export async function adoptIntegrations(database: Database, kinds: readonly string[]): Promise<number> {
  const rows = await database.lookUp(statement<object>(adoptText, [kinds]));
  return rows.length;
}

const adoptText = `insert into endpoint_security (account_id, integration_id)
select o.account_id, o.id from objects o where o.kind = any($1::text[])
  and not exists (select from endpoint_security e where e.account_id = o.account_id and e.integration_id = o.id)
on conflict do nothing
returning 1`;
