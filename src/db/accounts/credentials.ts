import { type AuditEntry, auditParameters, headAfter, insertAuditText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { DirectoryEntry, ExtraWrite } from '../commit/commit-together.ts';
import type { Database } from '../database.ts';

/** Credentials of a user at the embedded identity provider. */
export interface Credentials {
  readonly account: string;
  /** In lower case. */
  readonly email: string;
  readonly user: string;
  /** Hash from `hashPassword`. */
  readonly hash: string;
  /** Whether others may know the password, so that the user must replace it at the first sign-in. */
  readonly oneTime: boolean;
  readonly changedAt: Date;
  /** Sealed by the vault. `null` without a second factor. */
  readonly totpSecret: string | null;
  /** Whether the user has shown once that the second factor works. */
  readonly totpConfirmed: boolean;
  /** Last time step whose code was used. Codes of this and earlier steps are refused. */
  readonly totpStep: number | null;
  /** Number of unused recovery codes, which replace a code of the app. */
  readonly recoveryCodes: number;
  /** Whether the user followed a link that was mailed to the address. */
  readonly proved: boolean;
  /** Revision of the account at the time of the query. */
  readonly revision: number;
}

const columns = `c.account_id as account, c.email, c.user_id as "user", c.password_hash as hash, c.one_time as "oneTime",
c.changed_at as "changedAt", c.totp_secret as "totpSecret", c.totp_confirmed as "totpConfirmed", c.totp_step as "totpStep",
jsonb_array_length(c.recovery_codes) as "recoveryCodes",
coalesce(c.proved_user = c.user_id, false) as proved`;

/** Maximum number of accounts that a look-up by address finds. A user in more accounts must name the account. */
export const maxCandidates = 3;

/**
 * Returns the credentials of the users with an address: one per account, proved addresses first, then the oldest users.
 * With `account`, only the credentials in that account. Leaves out credentials whose user was deleted.
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
    order by proved desc, o.created_at, k.account_id limit ${maxCandidates}`;
  return await database.lookUp(statement<Credentials>(text, [email.toLowerCase(), account ?? null]));
}

/** Returns the credentials of a user, or `undefined` when there are none. */
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

/** Returns whether any user on this server can sign in, with credentials or through another identity provider. */
export async function hasSignInUsers(database: Database): Promise<boolean> {
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
 * Returns the statement that stores credentials in the transaction that creates the user. The statement returns one
 * row. It replaces credentials that were kept for an earlier user with this address.
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
 * Returns the directory entries by which a user with credentials is found. The address is for servers of release 0.1,
 * which look up credentials by it and know one account for each address. It is not written when another account has it
 * already.
 */
export function credentialEntries(account: string, email: string, user: string): readonly DirectoryEntry[] {
  return [
    { account, kind: 'email', value: email.toLowerCase(), subject: user, skipIfTaken: true },
    { account, kind: 'user', value: user, subject: user },
  ];
}

/**
 * Returns whether a deleted user who had proved the address by a mailed link left credentials. Other credentials are not
 * given to a new user: anyone who once created a user with this address may know the password.
 */
export async function hasProvedCredentials(database: Database, account: string, email: string): Promise<boolean> {
  const text = `select from credentials c where c.account_id = $1 and c.email = $2 and c.proved_user = c.user_id
    and not exists (select from objects o where o.account_id = $1 and o.id = c.user_id)`;
  const [rows] = await database.inAccount(account, [statement(text, [account, email.toLowerCase()])]);
  return rows.length === 1;
}

/** Returns the statement that assigns the proved credentials of a deleted user to the new user with the address. */
export function reassignCredentials(account: string, email: string, user: string): ExtraWrite {
  const text = `update credentials set user_id = $3, proved_user = $3
    where account_id = $1 and email = $2 and proved_user = user_id returning email`;
  return { account, statement: statement(text, [account, email.toLowerCase(), user]), mustReturnRow: true };
}

/** Returns the statement that succeeds only while no other user of the account can sign in. */
export function requireFirstSignInUser(account: string, user: string): ExtraWrite {
  const text = `select 1 where not exists (select from credentials where account_id = $1 and user_id <> $2)
    and not exists (select from identities where account_id = $1)`;
  return { account, statement: statement(text, [account, user]), mustReturnRow: true };
}

/** Replacement of a password. */
export interface PasswordChange extends Pick<Credentials, 'account' | 'user' | 'hash' | 'oneTime'> {
  /** Hash that the change replaces. A change that was decided on an older hash is not made. */
  readonly replacedHash: string;
}

/** Replaces a password. Returns false when the password was changed after it was checked. */
export async function changePassword(database: Database, change: PasswordChange, entry: AuditEntry): Promise<boolean> {
  const { account, user, hash, oneTime, replacedHash } = change;
  const parameters = [...auditParameters(account, entry), user, hash, oneTime, replacedHash];
  const [rows] = await database.inAccount(account, [statement(changeText, parameters)], { write: true });
  return rows.length === 1;
}

const changeText = `with changed as (
  update credentials set password_hash = $10, one_time = $11::boolean, changed_at = $2::timestamptz
  where account_id = $1 and user_id = $9 and password_hash = $12 returning email
), ${headAfter('changed')}
${insertAuditText} returning id`;
