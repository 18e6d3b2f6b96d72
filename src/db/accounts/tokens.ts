import { type AuditEntry, auditParameters, headAfter, insertAuditText, numberEventsText } from '../audit-entry.ts';
import { createBatchedLookUp } from '../batch-look-ups.ts';
import { queryBuilder, statement } from '../builder.ts';
import type { ExtraWrite } from '../commit/commit-together.ts';
import { type KeptValues, statementKeepingValues } from '../commit/kept-values.ts';
import type { Database, RunSql } from '../database.ts';
import { toRepetitionConflict } from '../repeated-requests.ts';

/** A stored personal access token. It never contains the token's value. */
export interface TokenRecord {
  readonly account: string;
  readonly id: string;
  readonly user: string;
  readonly name: string;
  /** SHA-256 of the token's value, in base64. */
  readonly hash: string;
  readonly createdBy: string;
  /** Creation time, in ISO 8601. */
  readonly createdAt: string;
  readonly expiresAt: string;
  /** Whether the token may only read and plan, and may not write. */
  readonly planOnly?: boolean;
}

/** Token of a caller, by its id and the hash of its value. */
export interface CallerToken {
  readonly id: string;
  /** SHA-256 of the token's value, in base64. */
  readonly hash: string;
}

/** User of a token, with the account's current revision. */
export interface TokenOwner {
  readonly account: string;
  readonly token: string;
  readonly planOnly: boolean;
  readonly user: string;
  readonly revision: number;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

const lookUpText = (
  condition: string,
) => `select d.value as hash, t.account_id as account, t.id as token, t.plan_only as "planOnly", t.user_id as "user", (extract(epoch from t.expires_at) * 1000)::float8 as "expiresAt", a.revision
from directory d
join tokens t on t.account_id = d.account_id and t.id = d.subject_id
join accounts a on a.account_id = d.account_id
where d.kind = 'token' and d.value ${condition}`;

// Postgres keeps the plan for one hash. For a list it makes a new plan each time, which takes longer than the query.
const [oneHashText, severalHashesText] = [lookUpText('= $1'), lookUpText('= any($1)')];

/** Finds a token by its hash. Returns `undefined` when there is none. */
export type TokenLookUp = (hash: string) => Promise<TokenOwner | undefined>;

/**
 * Returns a look-up that reads the token and the account's revision in one query. Concurrent requests share a query.
 */
export function createTokenLookUp(database: Database): TokenLookUp {
  return createBatchedLookUp(async (hashes) => {
    const [text, value] = hashes.length === 1 ? [oneHashText, hashes[0]] : [severalHashesText, hashes];
    const rows = await database.lookUp(statement<TokenOwner & { readonly hash: string }>(text, [value]));
    return new Map(rows.map(({ hash, ...owner }) => [hash, owner]));
  });
}

/** Stores a token and its directory entry. Does nothing when the token is stored already. */
export async function insertToken(database: Database, token: TokenRecord): Promise<void> {
  const work = async (run: RunSql) => {
    const { account, id, user, name, hash, createdBy, createdAt, expiresAt } = token;
    const added = await run(
      `insert into directory (account_id, kind, value, subject_id) values ($1, 'token', $2, $3) on conflict do nothing returning value`,
      [account, hash, id],
    );
    if (added.length === 0) return;
    await run(
      'insert into tokens (account_id, id, user_id, name, hash, created_by, created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7, $8)',
      [account, id, user, name, hash, createdBy, createdAt, expiresAt],
    );
  };
  await database.asOwner(work, { write: 'short' });
}

/** Returns the number of tokens of an account. The bootstrap creates the first one. */
export async function countTokens(database: Database, account: string): Promise<number> {
  const [row] = await database.lookUp(
    statement<{ readonly count: number }>('select count(*) as count from tokens where account_id = $1', [account]),
  );
  return row?.count ?? 0;
}

/** A token as API responses show it, without its hash. */
export interface TokenRow {
  readonly id: string;
  readonly user_id: string;
  readonly name: string;
  readonly created_by: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly last_used: Date | null;
  readonly plan_only: boolean;
}

/** Returns the tokens of a user, oldest first. */
export async function listTokens(database: Database, account: string, user: string): Promise<readonly TokenRow[]> {
  const [rows] = await database.inAccount(account, [
    queryBuilder
      .selectFrom('tokens')
      .select(['id', 'user_id', 'name', 'created_by', 'created_at', 'expires_at', 'last_used', 'plan_only'])
      .where('account_id', '=', account)
      .where('user_id', '=', user)
      .orderBy('created_at')
      .orderBy('id')
      .compile(),
  ]);
  return rows;
}

/** Returns the hash of a token, or `undefined` when the account has no token with this id. */
export async function readTokenHash(database: Database, account: string, id: string): Promise<string | undefined> {
  const [[found]] = await database.inAccount(account, [
    statement<{ readonly hash: string }>('select hash from tokens where account_id = $1 and id = $2', [account, id]),
  ]);
  return found?.hash;
}

/**
 * Stores a new token, its directory entry, and its audit event. Stores nothing and returns false when the account is
 * not at `revision`.
 */
export async function createToken(
  database: Database,
  token: TokenRecord,
  entry: AuditEntry,
  revision: number,
  kept?: KeptValues,
): Promise<boolean> {
  const { account, id, user, name, hash, createdBy, createdAt, expiresAt, planOnly = false } = token;
  const parameters = [
    ...auditParameters(account, entry),
    ...[id, user, name, hash, createdBy, createdAt, expiresAt, planOnly, revision],
  ];
  const [rows] = await database
    .inAccount(account, [statementKeepingValues(createText, parameters, kept)], { write: true })
    .catch((error) => Promise.reject(toRepetitionConflict(error)));
  return rows.length === 1;
}

const createText = `with ${numberEventsText('1', ' and revision = $17::bigint')}, token as (
  insert into tokens (account_id, id, user_id, name, hash, created_by, created_at, expires_at, plan_only)
  select $1, $9, $10, $11, $12, $13, $14::timestamptz, $15::timestamptz, $16::boolean from head
), entry as (
  insert into directory (account_id, kind, value, subject_id) select $1, 'token', $12, $9 from head
)
${insertAuditText} returning id`;

/** Returns the write that stores a token in the same transaction as the user who owns it. */
export function putToken(token: TokenRecord): ExtraWrite {
  const { account, id, user, name, hash, createdBy, createdAt, expiresAt } = token;
  const text = `with entry as (
    insert into directory (account_id, kind, value, subject_id) values ($1, 'token', $5, $2)
  ) insert into tokens (account_id, id, user_id, name, hash, created_by, created_at, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7::timestamptz, $8::timestamptz)`;
  return { account, statement: statement(text, [account, id, user, name, hash, createdBy, createdAt, expiresAt]) };
}

/** Deletes a token of a user. Returns whether the token existed. */
export async function deleteToken(
  database: Database,
  { account, user, id }: { readonly account: string; readonly user: string; readonly id: string },
  entry: AuditEntry,
): Promise<boolean> {
  const [rows] = await database.inAccount(
    account,
    [statement(deleteText, [...auditParameters(account, entry), id, user])],
    { write: true },
  );
  return rows.length === 1;
}

const deleteText = `with token as (
  delete from tokens where account_id = $1 and id = $9 and user_id = $10 returning id
), entry as (
  delete from directory d using token t where d.account_id = $1 and d.kind = 'token' and d.subject_id = t.id
), ${headAfter('token')}
${insertAuditText} returning id`;

/** Records the last use of tokens of an account. Ignores a time that is older than the stored one. */
export async function recordTokenUses(
  database: Database,
  account: string,
  uses: readonly { readonly token: string; readonly at: string }[],
): Promise<void> {
  await database.inAccount(account, [statement(usesText, [account, JSON.stringify(uses)])]);
}

const usesText = `update tokens t set last_used = x.at from json_to_recordset($2::json) as x(token text, at timestamptz)
where t.account_id = $1 and t.id = x.token and (t.last_used is null or t.last_used < x.at)`;
