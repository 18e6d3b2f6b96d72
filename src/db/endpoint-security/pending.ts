import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** An integration whose product is to be queried about peers. */
export interface PendingSync {
  readonly account: string;
  readonly integration: string;
  /** Milliseconds until the sync is due. 0: due now, also because the settings changed. */
  readonly dueInMs: number;
  readonly failing: boolean;
  /** Whether another server is processing the integration. */
  readonly isElsewhere: boolean;
}

/** Selects the integrations that `findPendingSyncs` returns. */
export interface PendingQuery {
  /** Id of this server. Integrations that other servers process are left out. */
  readonly owner: string;
  /** Accounts whose integrations are all returned, also those that another server processes. */
  readonly accounts: readonly string[];
  readonly limit: number;
}

/**
 * Returns the enabled integrations of all accounts. Due integrations come first, then the integrations of `accounts`.
 */
export async function findPendingSyncs(
  database: Database,
  { owner, accounts, limit }: PendingQuery,
): Promise<readonly PendingSync[]> {
  return database.lookUp(statement<PendingSync>(pendingText, [owner, accounts, limit]));
}

const pendingText = `select account, integration, failing, "isElsewhere", "dueInMs" from (
  select e.account_id as account, e.integration_id as integration, e.failures > 0 as failing, e.next_at,
    l.name is not null as "isElsewhere",
    case when e.tried_revision is distinct from o.updated_revision then 0
      else greatest(0, extract(epoch from e.next_at - clock_timestamp()) * 1000) end::float8 as "dueInMs"
  from endpoint_security e
  join objects o on o.account_id = e.account_id and o.id = e.integration_id
  left join leases l on l.account_id = e.account_id and l.name = 'endpoint-security/' || e.integration_id
    and l.until > clock_timestamp() and l.owner <> $1
  where coalesce((o.spec ->> 'enabled')::boolean, true) and (l.name is null or e.account_id = any($2::text[]))
) x
order by "dueInMs" > 0, account <> all($2::text[]), "dueInMs", next_at nulls first
limit $3`;

/**
 * Creates a row for each object of these kinds that has none, because it was created since the last call. Returns the
 * number of created rows.
 */
export async function createMissingIntegrations(database: Database, kinds: readonly string[]): Promise<number> {
  const rows = await database.lookUp(statement<object>(createMissingText, [kinds]));
  return rows.length;
}

const createMissingText = `insert into endpoint_security (account_id, integration_id)
select o.account_id, o.id from objects o where o.kind = any($1::text[])
  and not exists (select from endpoint_security e where e.account_id = o.account_id and e.integration_id = o.id)
on conflict do nothing
returning 1`;
