import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/**
 * Registers a proxy as connected. An id belongs to the token that registered it while that token is valid. Returns
 * `false` when the id belongs to another token.
 */
export async function registerProxy(
  database: Database,
  account: string,
  { id, token, cluster, version }: ProxyRef & { readonly cluster: string; readonly version: string },
): Promise<boolean> {
  const [rows] = await database.inAccount(account, [
    statement(registerText, [account, id, token, cluster, version]),
    statement(usedText, [account, token, cluster]),
  ]);
  return rows.length === 1;
}

/** A proxy and the id of the token that registered it. */
export interface ProxyRef {
  readonly id: string;
  readonly token: string;
}

const registerText = `insert into proxies as p (account_id, id, token_id, cluster_id, version, connected, registered_at, last_seen)
values ($1, $2, $3, $4, $5, true, now(), now())
on conflict (account_id, id) do update set cluster_id = excluded.cluster_id, version = excluded.version, connected = true,
  last_seen = now(), token_id = excluded.token_id
where p.token_id = excluded.token_id
  or not exists (select from proxy_tokens t where t.account_id = p.account_id and t.id = p.token_id
    and (t.expires_at is null or t.expires_at > now()))
returning id`;

const usedText = `update proxy_tokens set last_used = now(), cluster_id = coalesce(cluster_id, $3)
where account_id = $1 and id = $2`;

/**
 * Records that a proxy is connected, or that it disconnected. Returns the id of its cluster; `undefined` when the proxy
 * is not registered.
 */
export async function recordProxyConnection(
  database: Database,
  account: string,
  { id, token }: ProxyRef,
  connected: boolean,
): Promise<string | undefined> {
  const [rows] = await database.inAccount(account, [
    statement<{ readonly cluster_id: string }>(
      `update proxies set connected = $4::boolean, last_seen = now()
where account_id = $1 and id = $2 and token_id = $3 returning cluster_id`,
      [account, id, token, connected],
    ),
  ]);
  return rows[0]?.cluster_id;
}

/** Number of connected proxies of a cluster. */
export interface ClusterCount {
  readonly cluster_id: string;
  readonly connected: number;
}

/** Last report of a proxy about a service. */
export interface ServiceStatus {
  readonly service_id: string;
  readonly status: string;
  readonly certificate_issued_at: Date | null;
}

/** A proxy counts as connected when it was seen within the last two minutes. */
const countText = `select cluster_id, count(*) as connected from proxies
where account_id = $1 and connected and last_seen > now() - interval '2 minutes' group by cluster_id`;

/** Returns the current reports of proxies: the number of connected proxies per cluster, and the status of services. */
export async function readProxyStatus(
  database: Database,
  account: string,
): Promise<{ readonly clusters: readonly ClusterCount[]; readonly services: readonly ServiceStatus[] }> {
  const [clusters, services] = await database.inAccount(account, [
    statement<ClusterCount>(countText, [account]),
    statement<ServiceStatus>(
      'select service_id, status, certificate_issued_at from service_status where account_id = $1',
      [account],
    ),
  ]);
  return { clusters, services };
}

const statusText = `insert into service_status as s (account_id, service_id, status, certificate_issued_at, proxy_id, reported_at)
select $1, service_id, status, certificate_issued_at, $3, now()
from json_to_recordset($2::json) as x(service_id text, status text, certificate_issued_at timestamptz) order by service_id
on conflict (account_id, service_id) do update set status = excluded.status, proxy_id = excluded.proxy_id,
  certificate_issued_at = coalesce(excluded.certificate_issued_at, s.certificate_issued_at), reported_at = excluded.reported_at`;

/** Stores the report of a proxy about services. Each service may occur once. */
export async function writeServiceStatus(
  database: Database,
  account: string,
  proxy: string,
  services: readonly {
    readonly service_id: string;
    readonly status: string;
    readonly certificate_issued_at?: string;
  }[],
): Promise<void> {
  await database.inAccount(account, [statement(statusText, [account, JSON.stringify(services), proxy])]);
}

/** Returns the proxies that were seen within the last `seconds`, and whose token is valid. */
export async function readActiveProxies(
  database: Database,
  account: string,
  seconds: number,
): Promise<readonly ProxyRef[]> {
  const [rows] = await database.inAccount(account, [statement<ProxyRef>(activeText, [account, String(seconds)])]);
  return rows;
}

const activeText = `select p.id, p.token_id as token from proxies p
join proxy_tokens t on t.account_id = p.account_id and t.id = p.token_id
where p.account_id = $1 and p.last_seen > now() - $2::text::int * interval '1 second'
  and (t.expires_at is null or t.expires_at > now())`;

/** Deletes proxies. They must register again before their reports are accepted. */
export async function deleteProxies(database: Database, account: string, proxies: readonly ProxyRef[]): Promise<void> {
  await database.inAccount(account, [statement(deleteText, [account, JSON.stringify(proxies)])]);
}

const deleteText = `delete from proxies p using json_to_recordset($2::json) as x(id text, token text)
where p.account_id = $1 and p.id = x.id and p.token_id = x.token`;
