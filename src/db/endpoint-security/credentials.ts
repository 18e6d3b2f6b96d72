import { type AuditEntry, auditParameters, headAfter, insertAuditText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';
import { type HeldIntegration, isHeld, write } from './progress.ts';

/** Expiry of the credentials of an integration, as its product reports it. */
export interface CredentialExpiry {
  /** Hash that identifies the credentials. */
  readonly basis: string;
  /** Time of expiry, in ISO 8601. `undefined` when the product reports no expiry. */
  readonly ends: string | undefined;
}

/** Records the expiry of the credentials. Returns false when the lease is lost. */
export async function recordCredentialExpiry(
  database: Database,
  held: HeldIntegration,
  { basis, ends = '' }: CredentialExpiry,
): Promise<boolean> {
  return (await write(database, held, expiryText, [basis, ends])).length > 0;
}

// A changed expiry resets the warning.
const expiryText = `update endpoint_security set credential_checked_at = clock_timestamp(), credential_basis = $5,
  credential_ends_at = nullif($6::text, '')::timestamptz,
  credential_warned = case when credential_basis = $5
    and credential_ends_at is not distinct from nullif($6::text, '')::timestamptz then credential_warned end
where account_id = $1 and integration_id = $2 and ${isHeld} returning 1`;

/** A warning that credentials expire, with its audit event. */
export interface CredentialWarning {
  /** Days before the expiry. 0: the credentials have expired. */
  readonly days: number;
  readonly basis: string;
  readonly entry: AuditEntry;
}

/** Writes the audit event that credentials expire within `days` days, once for each number of days. */
export async function warnOfCredentialExpiry(
  database: Database,
  { account, integration }: HeldIntegration,
  { days, basis, entry }: CredentialWarning,
): Promise<void> {
  const parameters = [...auditParameters(account, entry), integration, days, basis];
  await database.inAccount(account, [statement(warnText, parameters)], { write: true });
}

const ifSame = (column: string): string => `${column} = case when credential_basis = $11 then ${column} end`;

const warnText = `with ending as (
  update endpoint_security set credential_basis = $11, credential_warned = $10,
    ${ifSame('credential_checked_at')}, ${ifSame('credential_ends_at')}
  where account_id = $1 and integration_id = $9
    and (credential_basis is distinct from $11 or credential_warned is null or credential_warned > $10) returning 1
), ${headAfter('ending')} ${insertAuditText}`;
