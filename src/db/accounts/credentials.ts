import { type AuditEntry, auditParameters, headAfter, insertAuditText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { DirectoryEntry, ExtraWrite } from '../commit/commit-together.ts';
import type { Database } from '../database.ts';

/** How a person signs in by the embedded identity provider. */
export interface Credentials {
  readonly account: string;
  /** In lower case. */
  readonly email: string;
  readonly user: string;
  /** As `hashPassword` makes it. */
  readonly hash: string;
  /** The server made the password up; it wants to be replaced. */
  readonly oneTime: boolean;
  readonly changedAt: Date;
  /** Sealed by the vault; absent without a second factor. */
  readonly totpSecret: string | null;
  /** The person has shown once that the second factor works. */
  readonly totpConfirmed: boolean;
  /** The last step whose code was used; it and earlier ones work no more. */
  readonly totpStep: number | null;
  /** How many codes are left that stand in for the app. */
  readonly recoveryCodes: number;
  /** The user followed a link that was mailed to the address. */
  readonly proved: boolean;
  /** The account's revision at this moment. */
  readonly revision: number;
}

const columns = `c.account_id as account, c.email, c.user_id as "user", c.password_hash as hash, c.one_time as "oneTime",
c.changed_at as "changedAt", c.totp_secret as "totpSecret", c.totp_confirmed as "totpConfirmed", c.totp_step as "totpStep",
jsonb_array_length(c.recovery_codes) as "recoveryCodes",
coalesce(c.proved_user = c.user_id, false) as proved`;

/** How many accounts one look-up by address reaches; beyond them the account is named. */
export const mostCandidates = 3;

/**
 * The credentials of the users with an address, one per account, proved addresses and the oldest users first; or those in one account.
 * Credentials that outlived their user are not there.
 */
export async function findCredentials(
  database: Database,
  email: string,
  account?: string,
): Promise<readonly Credentials[]> {
  const text = `select ${columns}, a.revision from object_keys k
    join objects o on o.account_id = k.account_id and o.id = k.object_id
    join credentials c on c.account_id = k.account_id and c.email = k.value and c.user_id = k.object_id
    join accounts a on a.account_id = k.account_id
    where k.kind = 'User' and k.rule = 'email' and k.value = $1 and ($2::text is null or k.account_id = $2)
    order by proved desc, o.created_at, k.account_id limit ${mostCandidates}`;
  return await database.lookUp(statement<Credentials>(text, [email.toLowerCase(), account ?? null]));
}

/** The credentials of a user; `undefined` when there are none. */
export async function readCredentials(
  database: Database,
  account: string,
  user: string,
): Promise<Credentials | undefined> {
  const text = `select ${columns}, a.revision from credentials c join accounts a on a.account_id = c.account_id
    where c.account_id = $1 and c.user_id = $2`;
  const [rows] = await database.inAccount(account, [statement<Credentials>(text, [account, user])]);
  return rows[0];
}

/** Whether anybody on this server can sign in: by credentials, or by another identity provider. */
export async function hasPeople(database: Database): Promise<boolean> {
  const text = 'select exists (select from credentials) or exists (select from identities) as found';
  const [row] = await database.lookUp(statement<{ readonly found: boolean }>(text, []));
  return row?.found === true;
}

/** New credentials of a user. */
export interface NewCredentials extends Pick<Credentials, 'account' | 'email' | 'user' | 'hash' | 'oneTime'> {
  /** ISO 8601. */
  readonly at: string;
  readonly proved?: boolean;
}

/**
 * The statement that stores credentials, within the transaction that makes the user; returns one row. What was kept of a
 * user who had the address before is replaced.
 */
export function putCredentials({
  account,
  email,
  user,
  hash,
  oneTime,
  at,
  proved = false,
}: NewCredentials): ExtraWrite {
  const text = `insert into credentials (account_id, email, user_id, password_hash, one_time, changed_at, proved_user)
    values ($1, $2, $3, $4, $5::boolean, $6::timestamptz, $7)
    on conflict (account_id, email) do update set user_id = excluded.user_id, password_hash = excluded.password_hash,
      one_time = excluded.one_time, changed_at = excluded.changed_at, totp_secret = null, totp_confirmed = false, totp_step = null,
      recovery_codes = '[]', proved_user = excluded.proved_user
    returning email`;
  return {
    account,
    statement: statement(text, [account, email.toLowerCase(), user, hash, oneTime, at, proved ? user : null]),
  };
}

/**
 * The entries by which a person with credentials is found. The address is for servers of release 0.1, which look credentials
 * up by it and know one account for each; it gives way to whichever account has it already.
 */
export function personEntries(account: string, email: string, user: string): readonly DirectoryEntry[] {
  return [
    { account, kind: 'email', value: email.toLowerCase(), subject: user, yields: true },
    { account, kind: 'user', value: user, subject: user },
  ];
}

/** Whether the address had a user in the account who is gone, and whose credentials were kept. */
export async function hasLeftover(database: Database, account: string, email: string): Promise<boolean> {
  const text = `select from credentials c where c.account_id = $1 and c.email = $2
    and not exists (select from objects o where o.account_id = $1 and o.id = c.user_id)`;
  const [rows] = await database.inAccount(account, [statement(text, [account, email.toLowerCase()])]);
  return rows.length > 0;
}

/** The statement that gives kept credentials to the user who comes back under the address. */
export function keepCredentials(account: string, email: string, user: string): ExtraWrite {
  const text = `update credentials set user_id = $3, proved_user = case when proved_user = user_id then $3 end
    where account_id = $1 and email = $2 returning email`;
  return { account, statement: statement(text, [account, email.toLowerCase(), user]), needed: true };
}

/** The statement that succeeds only while no other user of the account can sign in. */
export function requireFirst(account: string, user: string): ExtraWrite {
  const text = `select 1 where not exists (select from credentials where account_id = $1 and user_id <> $2)
    and not exists (select from identities where account_id = $1)`;
  return { account, statement: statement(text, [account, user]), needed: true };
}

/** A password that takes the place of another. */
export interface PasswordChange extends Pick<Credentials, 'account' | 'user' | 'hash' | 'oneTime'> {
  /** The hash that it replaces: a change that was decided on an older one is none. */
  readonly replaces: string;
}

/** Replaces a password; returns whether it was still the one that was checked. */
export async function changePassword(database: Database, change: PasswordChange, entry: AuditEntry): Promise<boolean> {
  const { account, user, hash, oneTime, replaces } = change;
  const parameters = [...auditParameters(account, entry), user, hash, oneTime, replaces];
  const [rows] = await database.inAccount(account, [statement(changeText, parameters)], { write: true });
  return rows.length === 1;
}

const changeText = `with changed as (
  update credentials set password_hash = $10, one_time = $11::boolean, changed_at = $2::timestamptz
  where account_id = $1 and user_id = $9 and password_hash = $12 returning email
), ${headAfter('changed')}
${insertAuditText} returning id`;
