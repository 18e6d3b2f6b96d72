import { type AuditEntry, auditParameters, headAfter, headText, insertAuditText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import { type KeptValues, statementKeepingValues } from '../commit/kept-values.ts';
import type { Database } from '../database.ts';
import { toRepetitionConflict } from '../repeated-requests.ts';

/** A token of a reverse proxy as answers show it, without its hash. */
export interface ProxyTokenRow {
  readonly id: string;
  readonly name: string;
  readonly created_by: string;
  readonly created_at: Date;
  /** `null`: the token does not expire. */
  readonly expires_at: Date | null;
  readonly last_used: Date | null;
}

/** A new token as it is stored, without its value. */
export interface NewProxyToken {
  readonly account: string;
  readonly id: string;
  readonly name: string;
  /** SHA-256 of the value, in base64. */
  readonly hash: string;
  readonly createdBy: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
}

// A token that was used for a cluster becomes invalid when that cluster is deleted.
const validCondition = `(t.cluster_id is null or exists (select from objects o where o.account_id = t.account_id and o.id = t.cluster_id))`;

const columns = 't.id, t.name, t.created_by, t.created_at, t.expires_at, t.last_used';

/** Returns the proxy tokens of an account, oldest first. */
export async function listProxyTokens(database: Database, account: string): Promise<readonly ProxyTokenRow[]> {
  const text = `select ${columns} from proxy_tokens t where t.account_id = $1 and ${validCondition} order by t.created_at, t.id`;
  const [rows] = await database.inAccount(account, [statement<ProxyTokenRow>(text, [account])]);
  return rows;
}

/** Returns the hash of a token of an account; `undefined` when the token does not exist. */
export async function readProxyTokenHash(database: Database, account: string, id: string): Promise<string | undefined> {
  const text = 'select hash from proxy_tokens where account_id = $1 and id = $2';
  const [[found]] = await database.inAccount(account, [statement<{ readonly hash: string }>(text, [account, id])]);
  return found?.hash;
}

/** Stores a new token, its directory entry and its audit event. */
export async function createProxyToken(
  database: Database,
  token: NewProxyToken,
  entry: AuditEntry,
  kept?: KeptValues,
): Promise<void> {
  const { account, id, name, hash, createdBy, createdAt, expiresAt } = token;
  const parameters = [...auditParameters(account, entry), id, name, hash, createdBy, createdAt, expiresAt];
  await database
    .inAccount(account, [statementKeepingValues(createText, parameters, kept)], { write: true })
    .catch((error) => Promise.reject(toRepetitionConflict(error)));
}

const createText = `with ${headText}, token as (
  insert into proxy_tokens (account_id, id, name, hash, created_by, created_at, expires_at)
  select $1, $9, $10, $11, $12, $13::timestamptz, $14::timestamptz from head
), entry as (
  insert into directory (account_id, kind, value, subject_id) select $1, 'proxy-token', $11, $9 from head
)
${insertAuditText}`;

/** Deletes a token and the proxies that it registered. Returns whether the token existed. */
export async function deleteProxyToken(
  database: Database,
  account: string,
  id: string,
  entry: AuditEntry,
): Promise<boolean> {
  const [rows] = await database.inAccount(account, [statement(deleteText, [...auditParameters(account, entry), id])], {
    write: true,
  });
  return rows.length === 1;
}

const deleteText = `with token as (
  delete from proxy_tokens t where t.account_id = $1 and t.id = $9 and ${validCondition} returning id
), entry as (
  delete from directory d using token t where d.account_id = $1 and d.kind = 'proxy-token' and d.subject_id = t.id
), known as (
  delete from proxies p using token t where p.account_id = $1 and p.token_id = t.id
), ${headAfter('token')}
${insertAuditText} returning id`;

/** A token that was found by its hash, with its account and the account's current revision. */
export interface ProxyTokenOwner {
  readonly account: string;
  readonly token: string;
  readonly name: string;
  /** The cluster that the token was first used for; `null` before its first use. */
  readonly cluster: string | null;
  readonly expired: boolean;
  readonly revision: number;
}

const findText = `select t.account_id as account, t.id as token, t.name, t.cluster_id as cluster,
  coalesce(t.expires_at <= now(), false) as expired, a.revision
from directory d
join proxy_tokens t on t.account_id = d.account_id and t.id = d.subject_id
join accounts a on a.account_id = d.account_id
where d.kind = 'proxy-token' and d.value = $1 and ${validCondition}`;

/** Returns a token by its hash; `undefined` when there is none. */
export async function findProxyToken(database: Database, hash: string): Promise<ProxyTokenOwner | undefined> {
  const [found] = await database.lookUp(statement<ProxyTokenOwner>(findText, [hash]));
  return found;
}
