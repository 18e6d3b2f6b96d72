import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** An integration whose product is to be asked about peers. */
export interface PendingSync {
  readonly account: string;
  readonly integration: string;
  /** In milliseconds from now; 0: at once, also because its settings changed. */
  readonly dueInMs: number;
  readonly failing: boolean;
  /** Another server is at it. */
  readonly isElsewhere: boolean;
}

/** Whose integrations are looked for. */
export interface PendingQuery {
  /** This server: what others are at is left out. */
  readonly owner: string;
  /** Accounts of which all integrations are wanted, also those that another server is at. */
  readonly accounts: readonly string[];
  readonly limit: number;
}

/** The enabled integrations of all accounts: those that are due first, then those of the accounts. */
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
