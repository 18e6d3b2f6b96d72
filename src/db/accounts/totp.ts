import { type AuditEntry, auditParameters, headAfter, insertAuditText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';
import type { Credentials } from './credentials.ts';

/** User whose second factor is read or changed. */
type UserRef = Pick<Credentials, 'account' | 'user'>;

/** Stores an unconfirmed TOTP secret, or clears it with null. Returns false when the second factor is on already. */
export async function beginTotp(
  database: Database,
  { account, user }: UserRef,
  secret: string | null,
): Promise<boolean> {
  const text = `update credentials set totp_secret = $3, totp_step = null
    where account_id = $1 and user_id = $2 and not totp_confirmed returning email`;
  const [rows] = await database.inAccount(account, [statement(text, [account, user, secret])], { write: true });
  return rows.length === 1;
}

/**
 * Switches the second factor on and stores the hashes of the recovery codes. Returns false when the stored secret is no
 * longer `totpSecret`, or when the second factor is on already.
 */
export async function confirmTotp(
  database: Database,
  { account, user, totpSecret }: UserRef & Pick<Credentials, 'totpSecret'>,
  codes: readonly string[],
  entry: AuditEntry,
): Promise<boolean> {
  const change = `set totp_confirmed = true, recovery_codes = $10::jsonb where account_id = $1 and user_id = $9
    and totp_secret = $11 and not totp_confirmed`;
  return changeAudited(database, account, entry, change, [user, JSON.stringify(codes), totpSecret]);
}

/** Switches the second factor off. Returns whether it was on. */
export async function disableTotp(database: Database, { account, user }: UserRef, entry: AuditEntry): Promise<boolean> {
  const change = `set totp_secret = null, totp_confirmed = false, totp_step = null, recovery_codes = '[]'
    where account_id = $1 and user_id = $9 and totp_confirmed`;
  return changeAudited(database, account, entry, change, [user]);
}

/** Replaces the recovery codes. Returns false when the second factor is off. */
export async function renewRecoveryCodes(
  database: Database,
  { account, user }: UserRef,
  codes: readonly string[],
  entry: AuditEntry,
): Promise<boolean> {
  const change = 'set recovery_codes = $10::jsonb where account_id = $1 and user_id = $9 and totp_confirmed';
  return changeAudited(database, account, entry, change, [user, JSON.stringify(codes)]);
}

/** Uses up a recovery code, given as its hash. Returns whether the code existed. */
export async function useRecoveryCode(
  database: Database,
  { account, user }: UserRef,
  hash: string,
  entry: AuditEntry,
): Promise<boolean> {
  const change = `set recovery_codes = recovery_codes - $10::text
    where account_id = $1 and user_id = $9 and totp_confirmed and recovery_codes @> to_jsonb($10::text)`;
  return changeAudited(database, account, entry, change, [user, hash]);
}

/**
 * Uses up the TOTP code of a time step. Returns false when the code of this step or of a later step was used already.
 */
export async function useTotpStep(database: Database, { account, user }: UserRef, step: number): Promise<boolean> {
  const text = `update credentials set totp_step = $3::bigint
    where account_id = $1 and user_id = $2 and (totp_step is null or totp_step < $3::bigint) returning email`;
  const [rows] = await database.inAccount(account, [statement(text, [account, user, step])], { write: true });
  return rows.length === 1;
}

/** Changes credentials and writes the audit event in one statement. Writes neither when no row matches. */
async function changeAudited(
  database: Database,
  account: string,
  entry: AuditEntry,
  change: string,
  values: readonly unknown[],
): Promise<boolean> {
  const text = `with changed as (update credentials ${change} returning email), ${headAfter('changed')} ${insertAuditText} returning id`;
  const parameters = [...auditParameters(account, entry), ...values];
  const [rows] = await database.inAccount(account, [statement(text, parameters)], { write: true });
  return rows.length === 1;
}
