import { type AuditEntry, auditParameters, headAfter, insertAuditText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';
import type { Credentials } from './credentials.ts';

/** Whose second factor it is. */
type Whose = Pick<Credentials, 'account' | 'user'>;

/** Keeps a secret that is still to be confirmed, or none; returns false when the second factor is on already. */
export async function beginTotp(database: Database, { account, user }: Whose, secret: string | null): Promise<boolean> {
  const text = `update credentials set totp_secret = $3, totp_step = null
    where account_id = $1 and user_id = $2 and not totp_confirmed returning email`;
  const [rows] = await database.inAccount(account, [statement(text, [account, user, secret])], { write: true });
  return rows.length === 1;
}

/** Switches the second factor on, with codes that stand in for the app, as hashes; returns false when it is not the secret that was seen. */
export async function confirmTotp(
  database: Database,
  { account, user, totpSecret }: Whose & Pick<Credentials, 'totpSecret'>,
  codes: readonly string[],
  entry: AuditEntry,
): Promise<boolean> {
  const change = `set totp_confirmed = true, recovery_codes = $10::jsonb where account_id = $1 and user_id = $9
    and totp_secret = $11 and not totp_confirmed`;
  return changeAudited(database, account, entry, change, [user, JSON.stringify(codes), totpSecret]);
}

/** Switches the second factor off; returns whether it was on. */
export async function takeTotpAway(database: Database, { account, user }: Whose, entry: AuditEntry): Promise<boolean> {
  const change = `set totp_secret = null, totp_confirmed = false, totp_step = null, recovery_codes = '[]'
    where account_id = $1 and user_id = $9 and totp_confirmed`;
  return changeAudited(database, account, entry, change, [user]);
}

/** Puts other codes in the place of those that stand in for the app; returns whether the second factor is on. */
export async function renewRecoveryCodes(
  database: Database,
  { account, user }: Whose,
  codes: readonly string[],
  entry: AuditEntry,
): Promise<boolean> {
  const change = 'set recovery_codes = $10::jsonb where account_id = $1 and user_id = $9 and totp_confirmed';
  return changeAudited(database, account, entry, change, [user, JSON.stringify(codes)]);
}

/** Uses up a code that stands in for the app, by its hash; returns whether it was there. */
export async function useRecoveryCode(
  database: Database,
  { account, user }: Whose,
  hash: string,
  entry: AuditEntry,
): Promise<boolean> {
  const change = `set recovery_codes = recovery_codes - $10::text
    where account_id = $1 and user_id = $9 and totp_confirmed and recovery_codes @> to_jsonb($10::text)`;
  return changeAudited(database, account, entry, change, [user, hash]);
}

/** Uses up the code of a step; returns whether it was unused, and every later one too. */
export async function useTotpStep(database: Database, { account, user }: Whose, step: number): Promise<boolean> {
  const text = `update credentials set totp_step = $3::bigint
    where account_id = $1 and user_id = $2 and (totp_step is null or totp_step < $3::bigint) returning email`;
  const [rows] = await database.inAccount(account, [statement(text, [account, user, step])], { write: true });
  return rows.length === 1;
}

/** Changes credentials and writes the audit event, in one statement; neither when there is nothing to change. */
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
